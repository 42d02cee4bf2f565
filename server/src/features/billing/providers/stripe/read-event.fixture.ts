import assert from 'node:assert/strict';

import type { StripeTestEvent } from '../../../../../test/payment-providers/stripe-events.ts';
import { DAY_MS, TEST_START } from '../../../../../test/test-clock.ts';
import type { BillingEvent, BillingFact } from '../../facts.ts';
import { stripeAdapter } from './adapter.ts';

export const MONTH_END = new Date(TEST_START.getTime() + 30 * DAY_MS);
export const ANN = { email: 'ann@example.com', name: 'Ann Example', locale: 'de' };
export const VERSIONS = ['acacia', 'basil'] as const;

/** A paused collection. */
export function pause(behavior: string) {
  return { object: { pause_collection: { behavior, resumes_at: 1_900_000_000 } } };
}

/** Normalizes a parsed body. */
export function normalizeStripe(body: unknown): BillingEvent {
  return stripeAdapter.normalize(body, { headers: {}, rawBody: Buffer.alloc(0) });
}

/** Normalizes an event as received. */
export function read(event: StripeTestEvent) {
  return normalizeStripe(JSON.parse(JSON.stringify(event)));
}

/** Returns the only fact of a kind. */
export function only<Kind extends BillingFact['kind']>(event: StripeTestEvent, kind: Kind) {
  const found = read(event).facts.filter(
    (fact): fact is Extract<BillingFact, { kind: Kind }> => fact.kind === kind,
  );
  assert.equal(found.length, 1);
  const [fact] = found;
  assert.ok(fact);
  return fact;
}
