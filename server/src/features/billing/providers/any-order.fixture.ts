/** Computes licenses from the events of a provider, in any order and with duplicates. */
import assert from 'node:assert/strict';

import * as fc from 'fast-check';

import type { Product } from '#server/config/catalog-model.ts';
import { anyProduct } from '#server/config/product.fixture.ts';

import { CREEM_PRODUCT } from '../../../../test/payment-providers/creem-events.ts';
import { DODO_PRODUCT } from '../../../../test/payment-providers/dodo-events.ts';
import { POLAR_PRODUCT } from '../../../../test/payment-providers/polar-events.ts';
import { DAY_MS, TEST_START } from '../../../../test/test-clock.ts';
import type { BillingEvent } from '../facts.ts';
import { computeLicenses, type LicenseDraft } from '../rules/compute-licenses.ts';
import { groupPurchases, type LedgerEntry } from '../rules/group-purchases.ts';

export const APRIL = new Date('2027-04-01T12:00:00.000Z');
export const MAY = new Date('2027-05-01T12:00:00.000Z');
export const FIRST = { startsAt: TEST_START, endsAt: APRIL };
export const SECOND = { startsAt: APRIL, endsAt: MAY };

const SOLD = new Set([
  'price_personal',
  'price_monthly',
  '17',
  'once:18',
  'personal',
  'monthly',
  POLAR_PRODUCT,
  DODO_PRODUCT,
  CREEM_PRODUCT,
]);

function findProduct(priceId: string): Product | null {
  if (!SOLD.has(priceId)) return null;
  return anyProduct({ id: priceId });
}

/** Returns the licenses that have a product. */
function compute(events: readonly BillingEvent[]): LicenseDraft[] {
  const entries = events.flatMap(({ provider, eventId, facts }) =>
    facts.flatMap((fact): LedgerEntry[] =>
      fact.kind === 'customer' ? [] : [{ provider, eventId, fact }],
    ),
  );
  return groupPurchases(entries)
    .flatMap(({ facts }) => computeLicenses(facts, findProduct))
    .filter(({ product }) => product !== null);
}

/** Computes the licenses of events, and asserts that other orders with some duplicates have the same ones. */
export function computeInAnyOrder(events: readonly BillingEvent[]): LicenseDraft[] {
  const expected = compute(events);
  const some = fc.array(fc.constantFrom(...events), { maxLength: 3 });
  const shuffled = fc.shuffledSubarray([...events], { minLength: events.length });
  fc.assert(
    fc.property(shuffled, some, (order, again) => {
      assert.deepEqual(compute([...order, ...again]), expected);
    }),
    { numRuns: 60 },
  );
  return expected;
}

/** Computes the only license of events, as {@link computeInAnyOrder} does. */
export function computeOne(events: readonly BillingEvent[]): LicenseDraft {
  const [license, ...others] = computeInAnyOrder(events);
  assert.ok(license);
  assert.deepEqual(others, []);
  return license;
}

/** Returns the time a number of days after the start of the tests. */
export function later(days: number): Date {
  return new Date(TEST_START.getTime() + days * DAY_MS);
}
