/** The auditor of a simulated year finds nothing in what happened, and every contradiction that is planted. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { auditYear, type Year } from './audit-year.ts';
import type { Books, Expected } from './books.ts';
import type { Paid } from './happenings.ts';
import { MARKETS } from './money.ts';
import { simulateYear } from './run-year.ts';

const resources = new AsyncDisposableStack();
after(() => resources.disposeAsync());
const year = await simulateYear({ buyers: 60, seed: 5 }, resources);
const { service } = year;

test('finds nothing in a year as it happened', async () => {
  assert.deepEqual(await listDifferences(), []);
});

async function listDifferences(changed: Partial<Year> = {}): Promise<readonly string[]> {
  return (await auditYear(service, { ...year, ...changed })).differences;
}

/** A contradiction in the database, what ends it, and what the auditor must report. */
const PLANTED: Readonly<Record<string, readonly [plant: string, undo: string, found: RegExp]>> = {
  'a license that ends a day later': [
    `update licenses set expires_at = expires_at + interval '1 day' where id = (select min(id::text)::uuid from licenses where expires_at is not null)`,
    `update licenses set expires_at = expires_at - interval '1 day' where id = (select min(id::text)::uuid from licenses where expires_at is not null)`,
    /^buyer \d+ at \w+ of \w+: until is [\d.]+, not [\d.]+$/,
  ],
  'updates of an hour more': [
    `update licenses set updates_until = updates_until + interval '1 hour' where updates_until is not null`,
    `update licenses set updates_until = updates_until - interval '1 hour' where updates_until is not null`,
    /of tool: updatesUntil is/,
  ],
  'a license of another person': [
    `update licenses set customer_email = 'x' || customer_email where id = (select min(id::text)::uuid from licenses where customer_email is not null)`,
    `update licenses set customer_email = substr(customer_email, 2) where customer_email like 'x%'`,
    /: email is xbuyer/,
  ],
  'a refund without an effect': [
    `update licenses set suspended_at = refunded_at, refunded_at = null where refunded_at is not null`,
    `update licenses set refunded_at = suspended_at, suspended_at = null where suspended_at is not null`,
    /isRefunded is false, not true/,
  ],
  'one machine more': [
    `update licenses set max_activations = max_activations + 1 where id = (select min(id::text)::uuid from licenses)`,
    `update licenses set max_activations = max_activations - 1 where id = (select min(id::text)::uuid from licenses)`,
    /machines is 3, not 2/,
  ],
  'a cent in a payment': [
    `update billing_payments set fact = jsonb_set(fact::jsonb, '{total}', to_jsonb((fact->>'total')::int + 1)) where event_id = (select min(event_id) from billing_payments where provider = 'paddle')`,
    `update billing_payments set fact = jsonb_set(fact::jsonb, '{total}', to_jsonb((fact->>'total')::int - 1)) where event_id = (select min(event_id) from billing_payments where provider = 'paddle')`,
    /at paddle, .*: the ledger has/,
  ],
  'a payment in another currency': [
    `update billing_payments set fact = jsonb_set(fact::jsonb, '{currency}', '"NOK"') where fact->>'currency' = 'JPY'`,
    `update billing_payments set fact = jsonb_set(fact::jsonb, '{currency}', '"JPY"') where fact->>'currency' = 'NOK'`,
    /the ledger has \d+ NOK/,
  ],
  'a payment that was forgotten': [
    `update billing_payments set provider = 'gone' where provider = 'polar'`,
    `update billing_payments set provider = 'polar' where provider = 'gone'`,
    /at polar, .*: lost, not license/,
  ],
  'a payment that needs attention': [
    `update billing_events set message = 'Needs attention: planted.' where provider = 'stripe' and message is null`,
    `update billing_events set message = null where message = 'Needs attention: planted.'`,
    /at stripe, .*: attention, not license/,
  ],
  'an event that was never applied': [
    `update billing_events set status = 'deferred' where provider = 'gumroad' and status = 'processed'`,
    `update billing_events set status = 'processed' where status = 'deferred'`,
    /^event .* is deferred/,
  ],
  'a yen of revenue': [
    `update billing_revenue_summaries set gross = gross + 1 where currency = 'JPY'`,
    `update billing_revenue_summaries set gross = gross - 1 where currency = 'JPY'`,
    /^revenue of 2026-\d\d \w+ (?:JP|unknown) JPY: /,
  ],
  'tax of another country': [
    `update billing_revenue_summaries set country = 'DE' where country = 'AT'`,
    `update billing_revenue_summaries set country = 'AT' where country = 'DE'`,
    /^revenue of 2026-\d\d \w+ DE EUR: .*, not nothing$/,
  ],
  'revenue of another product': [
    `update billing_revenue_summaries set product_id = 'gone' where product_id = 'pro'`,
    `update billing_revenue_summaries set product_id = 'pro' where product_id = 'gone'`,
    /^revenue of 2026-\d\d gone \w+: .*, not nothing$/,
  ],
  'revenue of a product in another country': [
    `update billing_revenue_months set country = 'DE' where product_id = 'pro' and country = 'AT'`,
    `update billing_revenue_months set country = 'AT' where product_id = 'pro' and country = 'DE'`,
    /^revenue of \w+ pro DE EUR: .*, not nothing$/,
  ],
};

describe('finds', () => {
  for (const [name, [plant, undo, found]] of Object.entries(PLANTED)) {
    test(name, async () => {
      const { rowCount } = await service.pool.query(plant);
      assert.ok((rowCount ?? 0) > 0, 'nothing was planted');
      const differences = await listDifferences();
      await service.pool.query(undo);
      assert.ok(
        differences.some((each) => found.test(each)),
        differences.slice(0, 5).join('\n'),
      );
      assert.deepEqual(await listDifferences(), []);
    });
  }
});

/** The first payment of a currency that was not of nothing. */
function findPayment(currency: string): Paid {
  const found = year.happenings.find(
    (each) => each.kind === 'paid' && each.amount > 0 && each.buyer.market.currency === currency,
  );
  assert.ok(found?.kind === 'paid');
  return found;
}

/** The year with another payment in place of one. */
function replacePayment(payment: Paid, other: readonly Paid[]): Partial<Year> {
  const others = year.happenings.filter((each) => each !== payment);
  return { happenings: [...others, ...other] };
}

describe('finds in the books', () => {
  const [dollars, yen] = [findPayment('USD'), findPayment('JPY')];

  const cases: Readonly<Record<string, Partial<Year>>> = {
    'a payment that the service has and the shop has not': replacePayment(dollars, []),
    'a payment that was counted once and made twice': replacePayment(dollars, [dollars, dollars]),
    'a cent of tax': replacePayment(dollars, [{ ...dollars, tax: dollars.tax + 1 }]),
    'a payment of another month': replacePayment(yen, [{ ...yen, day: (yen.day + 40) % 360 }]),
    'yen that were euros': replacePayment(yen, [
      { ...yen, buyer: { ...yen.buyer, market: MARKETS.austria } },
    ]),
    'a buyer who must have no license': {
      accounts: year.accounts.map((account, index) => (index === 0 ? without(account) : account)),
    },
    'a license of a stranger': { accounts: year.accounts.slice(1) },
  };

  for (const [name, changed] of Object.entries(cases)) {
    test(name, async () => {
      assert.notDeepEqual(await listDifferences(changed), []);
    });
  }
});

/** The books of a buyer who must have nothing. */
function without(account: Books): Books {
  return {
    buyer: account.buyer,
    plan: account.plan,
    payments: account.payments,
    unearned: account.unearned,
    pay: (payment) => account.pay(payment),
    refund: (payment, day) => account.refund(payment, day),
    dispute: (payment) => account.dispute(payment),
    win: (payment) => account.win(payment),
    expect: (): Expected | null => null,
  };
}
