import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { permute } from '../../../../test/permute.ts';
import type { BillingFact } from '../facts.ts';
import {
  adjustment,
  began,
  checkout,
  line,
  month,
  monthly,
  payment,
  PRICES,
  renewal,
  snapshot,
  toEvents,
} from './facts.fixture.ts';
import { groupPurchases, type LedgerEntry } from './group-purchases.ts';
import { planLicenses, type BilledLine, type SoldCatalog } from './plan-licenses.ts';
import { findPrice, PRODUCTS } from './plan.fixture.ts';

const BUNDLE = PRICES.unknown;

/** A catalogue that sells keys of `personal`, and `personal` and `sellers` as a bundle. */
const catalog: SoldCatalog = {
  products: new Map(
    [...PRODUCTS].map(([id, product]) => [
      id,
      id === 'personal' ? { ...product, quantityAs: 'keys' as const } : product,
    ]),
  ),
  findPrice: (provider, priceId) => {
    const id = priceId === BUNDLE ? 'personal' : findPrice(provider, priceId)?.id;
    return catalog.products.get(id ?? '') ?? null;
  },
  listBundled: (_provider, priceId) => (priceId === BUNDLE ? ['personal', 'sellers'] : []),
};

function plan(facts: readonly BillingFact[], lines: readonly BilledLine[] = [], sold = catalog) {
  return planOf(toEvents(facts), lines, sold);
}

function planOf(
  events: ReturnType<typeof toEvents>,
  lines: readonly BilledLine[] = [],
  sold = catalog,
) {
  const entries = events.flatMap(({ provider, eventId, facts }): LedgerEntry[] =>
    facts.flatMap((fact) => (fact.kind === 'customer' ? [] : [{ provider, eventId, fact }])),
  );
  const { missing, problems, unmatched } = planLicenses(groupPurchases(entries), lines, sold);
  const licenses = missing.map(({ draft, terms }) => {
    const { transactionId, lineKey, canceledAt, refundedAt, expiresAt } = draft;
    return {
      transactionId,
      lineKey,
      productId: terms.productId,
      machines: terms.maxActivations,
      expiresAt,
      ...(canceledAt === null ? {} : { canceledAt }),
      ...(refundedAt === null ? {} : { refundedAt }),
    };
  });
  const causes = [...problems, ...unmatched].map(({ reason }) => reason);
  return { licenses: licenses.sort((a, b) => (a.lineKey < b.lineKey ? -1 : 1)), causes };
}

/** Plans facts, and asserts that every order with duplicates has the same licenses. */
function planInAnyOrder(facts: readonly BillingFact[]) {
  const expected = plan(facts);
  for (const order of permute(toEvents(facts))) {
    assert.deepEqual(planOf(order).licenses, expected.licenses);
    assert.deepEqual(planOf([...order, ...order.slice(0, 2)]).licenses, expected.licenses);
  }
  return expected;
}

function key(lineKey: string, more: object = {}) {
  const license = { transactionId: 'txn_1', lineKey, productId: 'personal', machines: 2 };
  return { ...license, expiresAt: null, ...more };
}

const START = [checkout({ subscriptionId: 'sub_1' }), began()];

function keysAt(days: number, quantity: number) {
  return snapshot(month(3, days), 'active', 3, { lines: [monthly(PRICES.personal, { quantity })] });
}

function back(total: number) {
  return adjustment({ adjustmentId: `adj_${total}`, full: false, total });
}

describe('a quantity of keys', () => {
  test('creates as many licenses with the machines of one, which a refund ends', () => {
    const bought = payment({ lines: [line(PRICES.personal, { quantity: 3 })] });
    const keys = [key('once:0'), key('once:0#2'), key('once:0#3')];
    assert.deepEqual(planInAnyOrder([bought]), { licenses: keys, causes: [] });
    const refundedAt = month(3, 2);
    assert.deepEqual(
      planInAnyOrder([bought, adjustment()]).licenses,
      keys.map((each) => ({ ...each, refundedAt })),
    );
  });

  test('of which some are paid back all work, and the refund needs attention', () => {
    const bought = payment({ lines: [line(PRICES.personal, { quantity: 5 })] });
    const keys = ['', '#2', '#3', '#4', '#5'].map((suffix) => key(`once:0${suffix}`));
    const { licenses, causes } = planInAnyOrder([bought, back(400)]);
    assert.deepEqual(licenses, keys);
    assert.match(causes.join(), /^Needs attention: it pays back 2 of 5 keys/u);
    assert.deepEqual(planInAnyOrder([bought, back(150)]).causes, []);
    assert.match(planInAnyOrder([bought, back(150), back(151)]).causes.join(), /back 1 of 5 keys/u);
    assert.deepEqual(planInAnyOrder([bought, back(400), back(600)]).causes, []);
  });

  test('follows the subscription: fewer end the newest keys, more begin with the ended ones', () => {
    const expiresAt = month(4);
    const first = [key('recurring:0', { expiresAt }), key('recurring:0#2', { expiresAt })];
    assert.deepEqual(planInAnyOrder([...START, keysAt(3, 2)]).licenses, first);
    const canceledAt = month(3, 5);
    assert.deepEqual(
      planInAnyOrder([...START, keysAt(3, 3), keysAt(5, 2), keysAt(6, 2)]).licenses,
      [...first, key('recurring:0#3', { expiresAt, canceledAt })],
    );
    assert.deepEqual(
      planInAnyOrder([...START, keysAt(3, 3), keysAt(5, 1), keysAt(6, 3)]).licenses,
      [...first, key('recurring:0#3', { expiresAt })],
    );
  });

  test('creates at most 1,000 keys for a line, and reports more', () => {
    const bought = (quantity: number) =>
      plan([payment({ lines: [line(PRICES.personal, { quantity })] })]);
    assert.equal(bought(1_000).licenses.length, 1_000);
    assert.deepEqual(bought(1_000).causes, []);
    assert.deepEqual(bought(1_001).licenses, []);
    assert.match(bought(1_001).causes.join(' '), /more than 1000 keys/);
    const grown = plan([...START, keysAt(3, 2), keysAt(5, 5_000)]);
    assert.equal(grown.licenses.length, 2);
    assert.match(grown.causes.join(' '), /more than 1000 keys/);
  });

  test('leaves what was sold as machines when the catalogue changes to keys', () => {
    const sale = {
      priceId: PRICES.personal,
      productId: 'personal',
      machines: 2,
      durationDays: null,
      hasFixedEnd: false,
      endsAt: null,
    };
    const sold = { provider: 'paddle', transactionId: 'txn_1', lineKey: 'once:0', licenseId: 'l' };
    const bought = payment({ lines: [line(PRICES.personal, { quantity: 3 })] });
    assert.deepEqual(plan([bought], [{ ...sold, sales: [sale] }]), { licenses: [], causes: [] });
  });
});

function to(days: number, priceId: string) {
  return snapshot(month(3, days), 'active', 3, { lines: [monthly(priceId)] });
}

describe('a bundle', () => {
  const sellers = { productId: 'sellers', machines: 10 };

  test('creates a license for each product, which a refund ends', () => {
    const bought = payment({ lines: [line(BUNDLE)] });
    const both = [key('once:0'), key('once:0+1', sellers)];
    assert.deepEqual(planInAnyOrder([bought]), { licenses: both, causes: [] });
    const refundedAt = month(3, 2);
    assert.deepEqual(
      planInAnyOrder([bought, adjustment()]).licenses,
      both.map((each) => ({ ...each, refundedAt })),
    );
  });

  test('multiplies what each product multiplies', () => {
    const bought = payment({ lines: [line(BUNDLE, { quantity: 2 })] });
    assert.deepEqual(planInAnyOrder([bought]).licenses, [
      key('once:0'),
      key('once:0#2'),
      key('once:0+1', { ...sellers, machines: 20 }),
    ]);
  });

  test('of a subscription follows a change to one of its products and back', () => {
    const expiresAt = month(4);
    const first = key('recurring:0', { expiresAt });
    const second = key('recurring:0+1', { expiresAt, ...sellers });
    const bundled = [checkout({ subscriptionId: 'sub_1', lines: [monthly(BUNDLE)] })];
    assert.deepEqual(planInAnyOrder([...bundled, to(0, BUNDLE)]).licenses, [first, second]);
    const single = [...bundled, to(0, BUNDLE), to(5, PRICES.personal)];
    assert.deepEqual(planInAnyOrder(single).licenses, [
      first,
      { ...second, canceledAt: month(3, 5) },
    ]);
    assert.deepEqual(planInAnyOrder([...single, to(7, BUNDLE)]).licenses, [first, second]);
  });

  test('keeps the products that it was sold with', () => {
    const sale = (productId: string) => ({
      priceId: BUNDLE,
      productId,
      machines: 2,
      durationDays: null,
      hasFixedEnd: false,
      endsAt: null,
    });
    const toLine = (lineKey: string, productId: string) => ({
      provider: 'paddle',
      transactionId: 'txn_1',
      lineKey,
      licenseId: lineKey,
      sales: [sale(productId)],
    });
    const lines = [toLine('once:0', 'personal'), toLine('once:0+1', 'sellers')];
    const larger = { ...catalog, listBundled: () => ['personal', 'sellers', 'yearly'] };
    const bought = [payment({ lines: [line(BUNDLE)] })];
    assert.deepEqual(plan(bought, lines, larger), { licenses: [], causes: [] });
    assert.equal(plan(bought, [], larger).licenses.length, 3);
  });
});

describe('a one-time charge of a subscription', () => {
  const charge = payment({
    transactionId: 'txn_c',
    subscriptionId: 'sub_1',
    origin: 'change',
    occurredAt: month(3, 9),
    lines: [line(PRICES.yearly, { lineId: 'item_c' })],
  });
  const running = key('recurring:0', { expiresAt: month(4) });
  const bought = {
    transactionId: 'txn_c',
    lineKey: 'charge:txn_c:0',
    productId: 'yearly',
    machines: 3,
    expiresAt: new Date(month(3, 9).getTime() + 365 * 86_400_000),
  };

  test('creates a license under its own transaction, and leaves the time of the subscription', () => {
    assert.deepEqual(planInAnyOrder([...START, charge]), {
      licenses: [bought, running],
      causes: [],
    });
  });

  test('ends with its own refund, and survives that of the subscription', () => {
    const ofCharge = adjustment({ transactionId: 'txn_c', occurredAt: month(3, 12) });
    assert.deepEqual(planInAnyOrder([...START, charge, ofCharge]).licenses, [
      { ...bought, refundedAt: month(3, 12) },
      running,
    ]);
    assert.deepEqual(planInAnyOrder([...START, charge, adjustment()]).licenses[0], bought);
  });

  test('is found on the invoice of a renewal, too', () => {
    const lines = [
      monthly(PRICES.personal, { lineId: 'txnitm_4' }),
      line(PRICES.sellers, { lineId: 'item_s' }),
    ];
    const renewed = planInAnyOrder([
      ...START,
      renewal(4, { lines }),
      snapshot(month(4), 'active', 4),
    ]);
    assert.deepEqual(renewed, {
      licenses: [
        { ...key('charge:txn_4:0'), transactionId: 'txn_4', productId: 'sellers', machines: 10 },
        { ...running, expiresAt: month(5) },
      ],
      causes: [],
    });
  });

  test('of a price that the catalogue lacks needs no license', () => {
    const fee = { ...charge, lines: [line('pri_of_a_fee', { lineId: 'item_c' })] };
    assert.deepEqual(planInAnyOrder([...START, fee]), { licenses: [running], causes: [] });
  });
});
