import type { BillingEvent, BillingFact } from '../facts.ts';

/** What an event comes to: facts, or the reason why nothing follows from it, a sentence for people. */
export type Reading = readonly BillingFact[] | string;

/** Puts an event's envelope and what it comes to together; undefined where its type is not read. */
export function toBillingEvent(
  envelope: Omit<BillingEvent, 'facts' | 'ignoredBecause'>,
  reading: Reading | undefined,
): BillingEvent {
  const found = reading ?? `No license depends on ${envelope.type}.`;
  return typeof found === 'string'
    ? { ...envelope, facts: [], ignoredBecause: found }
    : { ...envelope, facts: found, ignoredBecause: null };
}
