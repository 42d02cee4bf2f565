import type { SubscriptionFact } from '../../billing/facts.ts';
import { MalformedEventError, type BillingAdapter } from '../../billing/providers/adapter.ts';

/** Polar's events have their id in a header. */
const DELIVERY = { headers: { 'webhook-id': 'import' }, rawBody: Buffer.alloc(0) };

/**
 * Reads a subscription from an API as its webhook would be read, so that both lead to the same license.
 * @param event the body of a webhook with the subscription
 * @returns the snapshot, or a problem: a sentence for people
 */
export function readSnapshot(adapter: BillingAdapter, event: unknown): SubscriptionFact | string {
  try {
    const { facts, ignoredBecause } = adapter.normalize(event, DELIVERY);
    const snapshot = facts.find((fact) => fact.kind === 'subscription');
    return snapshot ?? ignoredBecause ?? 'It is not a subscription.';
  } catch (error) {
    if (error instanceof MalformedEventError) return error.message;
    throw error;
  }
}

/** Whether a status means that the current period is paid, or that nothing has to be paid for it. */
export function isCurrent({ status }: Pick<SubscriptionFact, 'status'>): boolean {
  return status === 'active' || status === 'trialing';
}
