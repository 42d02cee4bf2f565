import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import type { Product } from '#server/config/catalog-model.ts';
import { anyProduct } from '#server/config/product.fixture.ts';

import { permute } from '../../../../test/permute.ts';
import type { BillingEvent } from '../facts.ts';
import { computeLicenses } from './compute-licenses.ts';
import { compareText } from './compare-facts.ts';
import { groupPurchases, type LedgerEntry } from './group-purchases.ts';
import type { LicenseDraft } from './compute-licenses.ts';
import {
  began,
  checkout,
  month,
  monthly,
  payment,
  PRICES,
  snapshot,
  toEvents,
  type ExpectedLicense,
} from './facts.fixture.ts';
import { scenarios } from './scenarios.fixture.ts';

const MACHINES: Record<string, number> = { personal: 2, sellers: 10, yearly: 3 };

function findProduct(priceId: string): Product | null {
  const [id] = Object.entries(PRICES).find(([, price]) => price === priceId) ?? ['unknown'];
  const maxActivations = MACHINES[id];
  if (maxActivations === undefined) return null;
  return anyProduct({ id, maxActivations, durationDays: id === 'yearly' ? 365 : null });
}

function compute(events: readonly BillingEvent[]): LicenseDraft[] {
  const entries = events.flatMap(({ provider, eventId, facts }): LedgerEntry[] =>
    facts.flatMap((fact) => (fact.kind === 'customer' ? [] : [{ provider, eventId, fact }])),
  );
  return groupPurchases(entries)
    .flatMap(({ facts }) => computeLicenses(facts, findProduct))
    .toSorted((a, b) => compareText(nameOf(a), nameOf(b)));
}

function nameOf({ transactionId, lineKey }: LicenseDraft): string {
  return `${transactionId} ${lineKey}`;
}

function summarize(drafts: readonly LicenseDraft[]): ExpectedLicense[] {
  return drafts.flatMap((draft) => {
    const { lineKey, product, quantity, expiresAt } = draft;
    if (product === null) return [];
    const machines = product.maxActivations * quantity;
    const { cancelScheduledFor, canceledAt, pausedAt, disputedAt, refundedAt } = draft;
    const times = { cancelScheduledFor, canceledAt, pausedAt, disputedAt, refundedAt };
    const set = Object.entries(times).filter(([, time]) => time !== null);
    return [{ lineKey, productId: product.id, machines, expiresAt, ...Object.fromEntries(set) }];
  });
}

describe('computes the same licenses for every order of facts', () => {
  for (const { name, facts, expected } of scenarios) {
    test(name, () => {
      assert.ok(facts.length <= 6);
      const first = compute(toEvents(facts));
      assert.deepEqual(summarize(first), expected);
      for (const order of permute(toEvents(facts))) {
        assert.deepEqual(compute(order), first);
        assert.deepEqual(compute([...order, ...order.slice(0, 2)]), first);
      }
    });
  }

  test('computes the same licenses for any mixture of facts with duplicates', () => {
    const all = toEvents(scenarios.flatMap(({ facts }) => facts));
    fc.assert(
      fc.property(
        fc.subarray(all, { maxLength: 12 }),
        fc.infiniteStream(fc.nat()),
        (some, seeds) => {
          const shuffled = [...some, ...some.slice(0, 3)]
            .map((event) => ({ event, place: seeds.next().value ?? 0 }))
            .sort((a, b) => a.place - b.place)
            .map(({ event }) => event);
          assert.deepEqual(compute(shuffled), compute(some));
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('invariants', () => {
  test('a subscription is never perpetual', () => {
    const recurring = scenarios
      .flatMap(({ facts }) => facts)
      .filter((fact) => fact.kind !== 'payment' || fact.lines.some(({ cycle }) => cycle !== null));
    fc.assert(
      fc.property(fc.subarray(toEvents(recurring)), (events) => {
        for (const draft of compute(events)) assert.notEqual(draft.expiresAt, null);
      }),
      { numRuns: 300 },
    );
  });

  test('cancellation and pause default to the time of the event', () => {
    const silent = { canceledAt: null, pausedAt: null };
    const end = (status: 'canceled' | 'paused') =>
      compute(toEvents([checkout(), began(), snapshot(month(4), status, null, silent)]))[0];
    assert.deepEqual(end('canceled')?.canceledAt, month(4));
    assert.deepEqual(end('paused')?.pausedAt, month(4));
  });
});

describe('paid time', () => {
  test('is one cycle from the purchase by default, clamped to the end of a shorter month', () => {
    const bought = checkout({ occurredAt: new Date('2027-01-31T12:00:00Z') });
    const [draft] = compute(toEvents([bought]));
    assert.deepEqual(draft?.expiresAt, new Date('2027-02-28T12:00:00Z'));
  });

  test('is extended by one cycle for a renewal without a period', () => {
    const renewed = payment({
      transactionId: 'txn_9',
      subscriptionId: 'sub_1',
      origin: 'renewal',
      occurredAt: month(4),
      lines: [monthly(PRICES.personal)],
    });
    const [draft] = compute(toEvents([checkout(), began(), renewed]));
    assert.deepEqual(draft?.expiresAt, month(5));
  });

  test('is not extended by payments that are only recorded', () => {
    const other = payment({
      transactionId: 'txn_9',
      subscriptionId: 'sub_1',
      origin: 'other',
      period: { startsAt: month(4), endsAt: month(9) },
    });
    const [draft] = compute(toEvents([checkout(), began(), other]));
    assert.deepEqual(draft?.expiresAt, month(4));
  });
});

describe('prices missing from the catalogue', () => {
  test('a line without other prices has no product', () => {
    const [draft] = compute(toEvents([payment({ lines: [monthly(PRICES.unknown)] })]));
    assert.equal(draft?.product, null);
  });

  test('a subscription keeps the product of its previous price', () => {
    const moved = snapshot(month(3, 9), 'active', 3, { lines: [monthly(PRICES.unknown)] });
    const [draft] = compute(toEvents([checkout(), began(), moved]));
    assert.equal(draft?.product?.id, 'personal');
  });
});

test('the checkout id comes from any version of the payment', () => {
  const plain = payment({ aliases: ['pi_1'] });
  const withCheckout = payment({ checkoutId: 'cs_1', occurredAt: month(3, 1) });
  for (const facts of [
    [plain, withCheckout],
    [withCheckout, plain],
  ]) {
    const [draft] = compute(toEvents(facts));
    assert.deepEqual([draft?.transactionId, draft?.checkoutId], ['txn_1', 'cs_1']);
  }
});
