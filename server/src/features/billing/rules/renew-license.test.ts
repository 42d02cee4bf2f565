import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import type { BillingFact, PaymentFact } from '../facts.ts';
import {
  adjustment,
  line,
  month,
  monthly,
  payment,
  PRICES,
  snapshot,
  toEvents,
} from './facts.fixture.ts';
import type { RenewedLicense } from './find-obstacle.ts';
import { KEY, planInAnyOrder, planOf, plus, toLine } from './renewals.fixture.ts';

const YEARLY = { productId: 'yearly', machines: 3 };
const bought = payment({ lines: [line(PRICES.yearly)] });
const END = plus(month(3), 365);

function again(more: Partial<PaymentFact> = {}): PaymentFact {
  const lines = [line(PRICES.yearly)];
  return payment({ transactionId: 'txn_2', occurredAt: month(9), renews: KEY, lines, ...more });
}

const LINES = [toLine('txn_1', 'once:0', false), toLine('txn_2', 'once:0', true)];

describe('a purchase that renews a license', () => {
  test('of the same product extends it from its end', () => {
    const license = { ...YEARLY, expiresAt: plus(END, 365) };
    assert.deepEqual(planInAnyOrder([bought, again()], LINES).licenses, [license]);
  });

  test('extends an ended license from the purchase', () => {
    const occurredAt = plus(END, 40);
    const late = planInAnyOrder([bought, again({ occurredAt })], LINES);
    assert.deepEqual(late.licenses, [{ ...YEARLY, expiresAt: plus(occurredAt, 365) }]);
  });

  test('takes back what it gave when it is refunded or disputed', () => {
    const refund = adjustment({ transactionId: 'txn_2', occurredAt: month(10) });
    const dispute = { ...refund, effect: 'chargeback' as const };
    const before = [{ ...YEARLY, expiresAt: END }];
    for (const back of [refund, dispute]) {
      assert.deepEqual(planInAnyOrder([bought, again(), back], LINES).licenses, before);
    }
    const won = adjustment({
      adjustmentId: 'adj_2',
      transactionId: 'txn_2',
      occurredAt: month(11),
      effect: 'chargeback_reverse',
    });
    assert.deepEqual(planInAnyOrder([bought, again(), dispute, won], LINES).licenses, [
      { ...YEARLY, expiresAt: plus(END, 365) },
    ]);
  });

  test('remains when the first purchase is refunded, and then starts with itself', () => {
    assert.deepEqual(planInAnyOrder([bought, again(), adjustment()], LINES).licenses, [
      { ...YEARLY, expiresAt: plus(month(9), 365) },
    ]);
    const both = [adjustment(), adjustment({ adjustmentId: 'adj_2', transactionId: 'txn_2' })];
    assert.deepEqual(planInAnyOrder([bought, again(), ...both], LINES).licenses, [
      { ...YEARLY, expiresAt: plus(month(9), 365), refundedAt: month(3, 2) },
    ]);
  });

  test('of another product upgrades it', () => {
    const upgrade = again({ lines: [line(PRICES.sellers)] });
    const sellers = { productId: 'sellers', machines: 10 };
    assert.deepEqual(planInAnyOrder([bought, upgrade], LINES).licenses, [
      { ...sellers, expiresAt: null },
    ]);
  });

  test('of fewer machines leaves their number, and is reported', () => {
    const five = payment({ lines: [line(PRICES.yearly, { quantity: 5 })] });
    const { licenses, causes } = planInAnyOrder([five, again()], LINES);
    assert.deepEqual(licenses, [{ ...YEARLY, machines: 15, expiresAt: plus(END, 365) }]);
    assert.match(causes.join(' '), /fewer machines/);
  });

  test('of a license without an end adds nothing, and is reported', () => {
    const { licenses, causes } = planInAnyOrder([payment(), again()], LINES);
    assert.deepEqual(licenses, [{ productId: 'personal', machines: 2, expiresAt: null }]);
    assert.match(causes.join(' '), /has no end/);
  });

  test('twice, also with the same price, adds both terms', () => {
    const third = again({ transactionId: 'txn_3', occurredAt: month(10) });
    const lines = [...LINES, toLine('txn_3', 'once:0', true)];
    assert.deepEqual(planInAnyOrder([bought, again(), third], lines).licenses, [
      { ...YEARLY, expiresAt: plus(END, 730) },
    ]);
  });
});

describe('a subscription that renews a license', () => {
  const PERSONAL = { productId: 'personal', machines: 2 };
  const old = [
    payment({ subscriptionId: 'sub_1', lines: [monthly(PRICES.personal)] }),
    snapshot(month(3), 'active', 3, { transactionId: 'txn_1' }),
    snapshot(month(3, 20), 'canceled', null),
  ];
  const next = [
    payment({
      transactionId: 'txn_2',
      subscriptionId: 'sub_2',
      occurredAt: month(6),
      renews: KEY,
      lines: [monthly(PRICES.personal)],
    }),
    snapshot(month(6), 'active', 6, { subscriptionId: 'sub_2', transactionId: 'txn_2' }),
  ];
  const lines = [toLine('txn_1', 'recurring:0', false), toLine('txn_2', 'recurring:0', true)];

  test('takes a canceled one over, with the same key', () => {
    assert.deepEqual(planInAnyOrder([...old, ...next], lines).licenses, [
      { ...PERSONAL, expiresAt: month(7), subscription: true },
    ]);
  });

  test('that is canceled, too, ends the license', () => {
    const end = snapshot(month(6, 9), 'canceled', null, { subscriptionId: 'sub_2' });
    assert.deepEqual(planInAnyOrder([...old, ...next, end], lines).licenses, [
      { ...PERSONAL, expiresAt: month(7), subscription: true, canceledAt: month(6, 9) },
    ]);
  });

  test('and a term that was bought for a subscription are both used', () => {
    const facts = [
      ...old.slice(0, 2),
      again({ lines: [line(PRICES.yearly)], occurredAt: month(3, 9) }),
    ];
    const own = [toLine('txn_1', 'recurring:0', false), toLine('txn_2', 'once:0', true)];
    assert.deepEqual(planInAnyOrder(facts, own).licenses, [
      { ...YEARLY, expiresAt: plus(month(3, 9), 365), subscription: true },
    ]);
  });
});

const license: RenewedLicense = {
  licenseId: KEY,
  productId: 'yearly',
  maxActivations: 3,
  features: [],
  soldAs: [],
  expiresAt: END,
  customerEmail: 'ann@example.com',
  isRevoked: false,
  isTrial: false,
  isTest: false,
};
const planNamed = (named: RenewedLicense | null, more: Partial<PaymentFact> = {}) =>
  planOf(toEvents([again(more)]), [], new Map([[KEY, named]]));

describe('a purchase that names a license', () => {
  test('upgrades it again to the product that was bought before and paid back', () => {
    const soldAs = [{ productId: 'sellers', features: ['sellers'] }];
    const customer = { email: 'ann@example.com', name: null, locale: null };
    const upgrade = { customer, lines: [line(PRICES.sellers)] };
    const { licenses, causes } = planNamed({ ...license, soldAs }, upgrade);
    assert.deepEqual([licenses[0]?.productId, causes], ['sellers', []]);
  });

  test('from elsewhere extends it from its end', () => {
    assert.deepEqual(planNamed(license), {
      licenses: [{ ...YEARLY, expiresAt: plus(END, 365) }],
      created: 0,
      causes: [],
    });
  });

  test('renews with one line, and creates licenses for the others', () => {
    const lines = [line(PRICES.sellers, { lineId: 'a' }), line(PRICES.yearly, { lineId: 'b' })];
    const { licenses, created } = planNamed(license, { lines });
    assert.deepEqual([licenses.length, licenses[0]?.expiresAt, created], [1, plus(END, 365), 1]);
  });

  test('that cannot be renewed creates nothing, and needs attention', () => {
    const customer = { email: 'bob@example.com', name: null, locale: null };
    const cases: readonly [RenewedLicense | null, RegExp, Partial<PaymentFact>?][] = [
      [null, /does not exist/],
      [{ ...license, isRevoked: true }, /is revoked/],
      [{ ...license, isTrial: true }, /of a trial/],
      [{ ...license, isTest: true }, /test mode/],
      [license, /another customer/, { customer }],
      [license, /not larger/, { lines: [line(PRICES.personal)] }],
      [
        { ...license, soldAs: [{ productId: 'gpu', features: ['gpu'] }] },
        /not larger/,
        { lines: [line(PRICES.sellers)] },
      ],
    ];
    for (const [named, cause, more] of cases) {
      const { licenses, created, causes } = planNamed(named, more);
      assert.deepEqual([licenses, created], [[], 0]);
      assert.match(causes.join(' '), cause);
    }
    const ann = { ...customer, email: 'Ann@Example.com' };
    assert.equal(planNamed(license, { customer: ann }).licenses.length, 1);
  });
});

test('a refunded purchase counts as if it had not happened, whatever was bought in which order', () => {
  const purchase = fc.record({
    day: fc.integer({ min: 0, max: 900 }),
    price: fc.constantFrom(PRICES.yearly, PRICES.sellers),
    isRefunded: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(purchase, { minLength: 1, maxLength: 5 }), (drawn) => {
      const facts = drawn.flatMap(({ day, price, isRefunded }, index): BillingFact[] => {
        const transactionId = `txn_${index}`;
        const occurredAt = plus(month(3), day);
        const paid = payment({ transactionId, occurredAt, lines: [line(price)], renews: KEY });
        const back = adjustment({ adjustmentId: `adj_${index}`, transactionId, occurredAt });
        return isRefunded ? [paid, back] : [paid];
      });
      const lines = drawn.map((_, index) => toLine(`txn_${index}`, 'once:0', index > 0));
      const events = toEvents(facts);
      const all = planOf(events, lines);
      assert.deepEqual(planOf([...events.toReversed(), ...events], lines).licenses, all.licenses);
      const kept = drawn.flatMap(({ isRefunded }, index) => (isRefunded ? [] : [index]));
      if (kept.length === 0) {
        assert.ok(all.licenses[0]?.refundedAt !== undefined);
        return;
      }
      const wanted = new Set(kept.map((index) => `txn_${index}`));
      const isWanted = (fact: BillingFact): boolean =>
        fact.kind === 'payment' && wanted.has(fact.transactionId);
      const without = planOf(
        toEvents(facts.filter(isWanted)),
        lines.filter(({ transactionId }) => wanted.has(transactionId)),
      );
      assert.deepEqual(all.licenses, without.licenses);
    }),
    { numRuns: 300 },
  );
});
