import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { anyProduct } from '#server/config/product.fixture.ts';

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
import {
  listTransactions,
  planLicenses,
  type AdoptableLicense,
  type BilledLine,
  type SoldCatalog,
} from './plan-licenses.ts';

const PERSONAL = anyProduct({ id: 'personal', features: ['gpu'], maxActivations: 2 });
const TERMS = { productId: 'personal', tier: 'personal', features: ['gpu'], maxActivations: 2 };

function group(...facts: readonly BillingFact[]) {
  return groupPurchases(
    toEvents(facts).flatMap(({ provider, eventId, facts: [fact] }) =>
      fact === undefined || fact.kind === 'customer' ? [] : [{ provider, eventId, fact }],
    ),
  );
}

function plan(
  facts: readonly BillingFact[],
  lines: readonly BilledLine[] = [],
  adoptable: readonly AdoptableLicense[] = [],
) {
  const catalog: SoldCatalog = {
    findPrice: (provider, priceId) =>
      provider === 'paddle' && priceId === PRICES.personal ? PERSONAL : null,
    products: new Map([[PERSONAL.id, PERSONAL]]),
  };
  const all = planLicenses(group(...facts), lines, catalog, adoptable);
  const { updates: _updates, ...plans } = all;
  return plans;
}

function billedLine(transactionId: string, lineKey: string, licenseId: string): BilledLine {
  return { provider: 'paddle', transactionId, lineKey, licenseId };
}

describe('planLicenses for a line', () => {
  test('lists a line without a license as missing, with the terms of its product', () => {
    const { missing, ...rest } = plan([
      payment({ lines: [line(PRICES.personal, { quantity: 3 })] }),
    ]);
    assert.deepEqual(
      missing.map(({ draft, terms }) => [draft.transactionId, draft.lineKey, terms]),
      [['txn_1', 'once:0', { ...TERMS, maxActivations: 6 }]],
    );
    assert.deepEqual(rest, {
      existing: [],
      orphaned: [],
      renewals: [],
      unmatched: [],
      problems: [],
    });
  });

  test('matches a line to its existing license', () => {
    const own = billedLine('txn_1', 'once:0', 'a');
    const { existing, ...rest } = plan([payment()], [own, billedLine('txn_2', 'once:0', 'b')]);
    assert.deepEqual(
      existing.map((each) => [each.line, each.terms]),
      [[own, TERMS]],
    );
    assert.deepEqual(rest, {
      missing: [],
      orphaned: [],
      renewals: [],
      unmatched: [],
      problems: [],
    });
  });

  test('matches a license that was created under a later payment before the checkout was known', () => {
    const later = billedLine('txn_4', 'recurring:0', 'a');
    const { existing, missing } = plan([checkout(), began(), renewal(4)], [later]);
    assert.deepEqual(
      existing.map((each) => [each.draft.transactionId, each.line]),
      [['txn_1', later]],
    );
    assert.deepEqual(missing, []);
  });

  test('keeps the license of the checkout if a line has two, and lists the other one as orphaned', () => {
    const own = billedLine('txn_1', 'recurring:0', 'b');
    const other = billedLine('txn_4', 'recurring:0', 'a');
    const { existing, orphaned } = plan([checkout(), began(), renewal(4)], [other, own]);
    assert.deepEqual(
      existing.map((each) => each.line),
      [own],
    );
    assert.deepEqual(
      orphaned.map((each) => each.line),
      [other],
    );
  });

  test('keeps the product of a line that has a license under two transactions', () => {
    const sale = { priceId: PRICES.personal, productId: 'personal', machines: 2 };
    const sold = { ...sale, durationDays: null, hasFixedEnd: false, endsAt: null };
    const lines = ['a', 'b'].map((id, index) => ({
      ...billedLine(`txn_${index + 4}`, 'recurring:0', id),
      sales: [sold],
    }));
    const { existing, orphaned } = plan([renewal(4), renewal(5)], lines);
    assert.deepEqual(
      existing.map((each) => [each.line.licenseId, each.terms?.productId]),
      [['a', 'personal']],
    );
    assert.equal(orphaned.length, 1);
  });

  test('finds the license that a payment created before it turned out to be wrong', () => {
    const facts = [renewal(4), renewal(5, { customerId: 'ctm_stranger' })];
    const { existing, missing } = plan(facts, [billedLine('txn_5', 'recurring:0', 'a')]);
    assert.deepEqual(
      existing.map((each) => [each.line.licenseId, each.draft.expiresAt]),
      [['a', month(5)]],
    );
    assert.deepEqual(missing, []);
  });

  test('adopts the license of an import after a renewal received one, and lists that one as orphaned', () => {
    const own = billedLine('txn_4', 'recurring:0', 'a');
    const imported: AdoptableLicense = {
      provider: 'paddle',
      licenseId: 'b',
      kind: 'subscription',
      name: 'sub_1',
      productId: 'personal',
      maxActivations: 2,
      subscription: true,
      expiresAt: month(4),
      customerEmail: null,
    };
    const { existing, orphaned, missing } = plan([renewal(4)], [own], [imported]);
    assert.deepEqual(
      existing.map((each) => [each.line.licenseId, each.draft.expiresAt]),
      [['b', month(5)]],
    );
    assert.deepEqual([orphaned.map((each) => each.line), missing], [[own], []]);
  });

  test('keeps the terms of a license whose price is no longer in the catalogue', () => {
    const lines = [line(PRICES.unknown)];
    const { existing, unmatched } = plan(
      [payment({ lines })],
      [billedLine('txn_1', 'once:0', 'a')],
    );
    assert.deepEqual([existing.map(({ terms }) => terms), unmatched], [[null], []]);
  });

  test('limits activations to a billion', () => {
    const lines = [line(PRICES.personal, { quantity: 1e9 })];
    const { missing } = plan([payment({ lines })]);
    assert.deepEqual(
      missing.map(({ terms }) => terms.maxActivations),
      [1_000_000_000],
    );
  });

  test('sells nothing for a quantity of 0, and reports one that is not plausible', () => {
    const zero = plan([
      payment({ lines: [line(PRICES.personal), line(PRICES.personal, { quantity: 0 })] }),
    ]);
    assert.deepEqual([zero.missing.length, zero.problems], [1, []]);
    for (const quantity of [0.5, -1, 1e12]) {
      const { missing, unmatched } = plan([
        payment({ lines: [line(PRICES.personal, { quantity })] }),
      ]);
      assert.deepEqual(missing, []);
      assert.match(unmatched[0]?.reason ?? '', /^Needs attention: the quantity is not/);
    }
  });
});

describe('planLicenses for a purchase', () => {
  test('lists a purchase without a known price as unmatched, with at most five prices', () => {
    const lines = ['a', 'b', 'a', 'c', 'd', 'e', 'f'].map((priceId) => line(priceId));
    const { unmatched, ...rest } = plan([payment({ lines })]);
    assert.deepEqual(
      unmatched.map(({ reason }) => reason),
      ['No product of the catalogue has the price a, b, c, d, e.'],
    );
    assert.deepEqual(rest, { missing: [], existing: [], orphaned: [], renewals: [], problems: [] });
  });

  test('ignores a purchase without a payment', () => {
    const { missing, unmatched } = plan([renewal(4, { origin: 'other' })]);
    assert.deepEqual([missing, unmatched], [[], []]);
  });

  test('separates two purchases of one plan', () => {
    const { missing, existing } = plan(
      [payment(), payment({ transactionId: 'txn_2', occurredAt: month(4) })],
      [billedLine('txn_2', 'once:0', 'a')],
    );
    assert.deepEqual(
      missing.map(({ draft }) => draft.transactionId),
      ['txn_1'],
    );
    assert.deepEqual(
      existing.map(({ draft }) => draft.transactionId),
      ['txn_2'],
    );
  });

  test('listTransactions returns each transaction, its aliases and the name of the subscription', () => {
    const [purchase] = group(checkout({ aliases: ['pi_1'] }), began(), renewal(4));
    assert.ok(purchase !== undefined);
    assert.deepEqual(
      listTransactions(purchase),
      ['txn_1', 'pi_1', 'txn_4', 'subscription sub_1'].map((transactionId) => ({
        provider: 'paddle',
        transactionId,
      })),
    );
  });
});
