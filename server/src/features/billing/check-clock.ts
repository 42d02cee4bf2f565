import type { BillingEvent } from './facts.ts';
import { MalformedEventError } from './providers/adapter.ts';

/** The clocks of servers differ by less. */
const MAX_AHEAD_MS = 86_400_000;

/**
 * Rejects an event from the future: its state of a subscription would outlast all later ones, and its term begin too late.
 * @throws MalformedEventError if the event or one of its facts is dated more than a day after `now`
 */
export function requirePast(event: BillingEvent, now: Date): void {
  const times = [event, ...event.facts].map(({ occurredAt }) => occurredAt.getTime());
  const newest = Math.max(...times);
  if (newest - now.getTime() <= MAX_AHEAD_MS) return;
  const time = new Date(newest).toISOString();
  throw new MalformedEventError(
    `${event.type} is dated ${time}, which is in the future. Check the clock of the sender; replay the event at that time if it is right.`,
    event,
  );
}
