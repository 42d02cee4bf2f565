import assert from 'node:assert/strict';

import { permute } from '../../../../test/permute.ts';
import type { BillingFact } from '../facts.ts';
import { toEvents } from './facts.fixture.ts';
import type { RenewedLicense } from './find-obstacle.ts';
import { groupPurchases, type LedgerEntry } from './group-purchases.ts';
import { planLicenses, type BilledLine } from './plan-licenses.ts';
import { findPrice, PRODUCTS } from './plan.fixture.ts';
import { NAMES_NONE } from './plan-renewals.ts';

const DAY_MS = 86_400_000;
/** The license that the purchases of these tests name. */
export const KEY = 'the-license';

/** Returns a time some days later. */
export function plus(from: Date, days: number): Date {
  return new Date(from.getTime() + days * DAY_MS);
}

/** Returns the line of a purchase, which created the license or renews it. */
export function toLine(transactionId: string, lineKey: string, renews: boolean): BilledLine {
  return { provider: 'paddle', transactionId, lineKey, licenseId: KEY, renews };
}

/** Plans the events of purchases, and returns the state of each license and the causes of what needs attention. */
export function planOf(
  events: ReturnType<typeof toEvents>,
  lines: readonly BilledLine[],
  renewed: ReadonlyMap<string, RenewedLicense | null> = new Map(),
) {
  const entries = events.flatMap(({ provider, eventId, facts }): LedgerEntry[] =>
    facts.flatMap((fact) => (fact.kind === 'customer' ? [] : [{ provider, eventId, fact }])),
  );
  const catalog = { findPrice, products: PRODUCTS };
  const named = { ...NAMES_NONE, licenses: renewed };
  const plans = planLicenses(groupPurchases(entries), lines, catalog, [], named);
  const { updates, missing, problems, unmatched } = plans;
  const licenses = updates.map(({ draft, terms }) => {
    const { expiresAt, subscription, canceledAt, refundedAt, disputedAt } = draft;
    return {
      productId: terms?.productId,
      machines: terms?.maxActivations,
      expiresAt,
      ...(subscription ? { subscription } : {}),
      ...(canceledAt === null ? {} : { canceledAt }),
      ...(refundedAt === null ? {} : { refundedAt }),
      ...(disputedAt === null ? {} : { disputedAt }),
    };
  });
  const causes = [...problems, ...unmatched].map(({ reason }) => reason);
  return { licenses, created: missing.length, causes };
}

/** Plans facts, and asserts that every order with duplicates leads to the same licenses. */
export function planInAnyOrder(facts: readonly BillingFact[], lines: readonly BilledLine[]) {
  const expected = planOf(toEvents(facts), lines);
  for (const order of permute(toEvents(facts))) {
    assert.deepEqual(planOf(order, lines).licenses, expected.licenses);
    assert.deepEqual(planOf([...order, ...order.slice(0, 2)], lines).licenses, expected.licenses);
  }
  assert.equal(expected.created, 0);
  return expected;
}
