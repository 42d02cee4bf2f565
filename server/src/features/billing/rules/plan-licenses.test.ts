import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { Product } from '#server/config/catalog-model.ts';

import type { BillingFact } from '../facts.ts';
import {
  began,
  checkout,
  line,
  month,
  payment,
  PRICES,
  renewal,
  toEvents,
} from './facts.fixture.ts';
import { groupPurchases } from './group-purchases.ts';
import { listTransactions, planLicenses, type BilledLine } from './plan-licenses.ts';

const PERSONAL: Product = {
  id: 'personal',
  name: 'Personal',
  productType: 'personal',
  tier: 'personal',
  features: ['gpu'],
  maxActivations: 2,
  durationDays: null,
  offlineDays: 14,
  moves: { extra: 3, days: 30 },
  prices: { paddle: [PRICES.personal], stripe: [], lemonsqueezy: [], standard: [] },
};
const TERMS = { productId: 'personal', tier: 'personal', features: ['gpu'], maxActivations: 2 };

function group(...facts: readonly BillingFact[]) {
  return groupPurchases(
    toEvents(facts).flatMap(({ provider, eventId, facts: [fact] }) =>
      fact === undefined || fact.kind === 'customer' ? [] : [{ provider, eventId, fact }],
    ),
  );
}

function plan(facts: readonly BillingFact[], lines: readonly BilledLine[] = []) {
  return planLicenses(group(...facts), lines, (provider, priceId) =>
    provider === 'paddle' && priceId === PRICES.personal ? PERSONAL : null,
  );
}

function made(transactionId: string, lineKey: string, licenseId: string): BilledLine {
  return { provider: 'paddle', transactionId, lineKey, licenseId };
}

describe('a line of a purchase', () => {
  test('that made nothing yet is missing, with what it sells', () => {
    const { missing, ...rest } = plan([
      payment({ lines: [line(PRICES.personal, { quantity: 3 })] }),
    ]);
    assert.deepEqual(
      missing.map(({ draft, terms }) => [draft.transactionId, draft.lineKey, terms]),
      [['txn_1', 'once:0', { ...TERMS, maxActivations: 6 }]],
    );
    assert.deepEqual(rest, { made: [], strays: [], unsold: [] });
  });

  test('that made a license has it, and makes no other', () => {
    const own = made('txn_1', 'once:0', 'a');
    const { made: kept, ...rest } = plan([payment()], [own, made('txn_2', 'once:0', 'b')]);
    assert.deepEqual(
      kept.map((each) => [each.line, each.terms]),
      [[own, TERMS]],
    );
    assert.deepEqual(rest, { missing: [], strays: [], unsold: [] });
  });

  test('that made one under a later payment, while the checkout was not known, keeps it under that', () => {
    const later = made('txn_4', 'recurring:0', 'a');
    const { made: kept, missing } = plan([checkout(), began(), renewal(4)], [later]);
    assert.deepEqual(
      kept.map((each) => [each.draft.transactionId, each.line]),
      [['txn_1', later]],
    );
    assert.deepEqual(missing, []);
  });

  test('that made two has the one of the checkout, whichever is older; the other is a stray', () => {
    const own = made('txn_1', 'recurring:0', 'b');
    const other = made('txn_4', 'recurring:0', 'a');
    const { made: kept, strays } = plan([checkout(), began(), renewal(4)], [other, own]);
    assert.deepEqual(
      kept.map((each) => each.line),
      [own],
    );
    assert.deepEqual(
      strays.map((each) => each.line),
      [other],
    );
  });

  test('whose price the catalogue names no more keeps what it has', () => {
    const lines = [line(PRICES.unknown)];
    const { made: kept, unsold } = plan([payment({ lines })], [made('txn_1', 'once:0', 'a')]);
    assert.deepEqual([kept.map(({ terms }) => terms), unsold], [[null], []]);
  });

  test('of more machines than can be counted is good for a billion; of a part of one for one', () => {
    const lines = [1e12, 0.5].map((quantity) => line(PRICES.personal, { quantity }));
    const { missing } = plan([payment({ lines })]);
    assert.deepEqual(
      missing.map(({ terms }) => terms.maxActivations),
      [1_000_000_000, 2],
    );
  });
});

describe('a purchase', () => {
  test('that sells nothing that the catalogue names is unsold, with at most five of its prices', () => {
    const lines = ['a', 'b', 'a', 'c', 'd', 'e', 'f'].map((priceId) => line(priceId));
    const { unsold, ...rest } = plan([payment({ lines })]);
    assert.deepEqual(
      unsold.map(({ reason }) => reason),
      ['No product of the catalogue has the price a, b, c, d, e.'],
    );
    assert.deepEqual(rest, { missing: [], made: [], strays: [] });
  });

  test('of which nothing was paid is neither sold nor unsold', () => {
    const { missing, unsold } = plan([renewal(4, { origin: 'other' })]);
    assert.deepEqual([missing, unsold], [[], []]);
  });

  test('is told apart from another in the same plan', () => {
    const { missing, made: kept } = plan(
      [payment(), payment({ transactionId: 'txn_2', occurredAt: month(4) })],
      [made('txn_2', 'once:0', 'a')],
    );
    assert.deepEqual(
      missing.map(({ draft }) => draft.transactionId),
      ['txn_1'],
    );
    assert.deepEqual(
      kept.map(({ draft }) => draft.transactionId),
      ['txn_2'],
    );
  });

  test('may have made licenses under each of its transactions and their other names', () => {
    const [purchase] = group(checkout({ aliases: ['pi_1'] }), began(), renewal(4));
    assert.ok(purchase !== undefined);
    assert.deepEqual(
      listTransactions(purchase),
      ['txn_1', 'pi_1', 'txn_4'].map((transactionId) => ({ provider: 'paddle', transactionId })),
    );
  });
});
