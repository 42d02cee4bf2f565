import type { Occurrence } from '../facts.ts';

/** Compares for sorting, oldest first, down to the nanosecond; 0 for the same moment. */
export function compareOccurrences(a: Occurrence, b: Occurrence): number {
  const difference = a.occurredAt.getTime() - b.occurredAt.getTime();
  return difference === 0 ? (a.occurredNanos ?? 0) - (b.occurredNanos ?? 0) : difference;
}

/** Returns the moment of a fact with all its digits, to be spread over another fact. */
export function occurrenceOf({ occurredAt, occurredNanos = 0 }: Occurrence): Occurrence {
  return { occurredAt, occurredNanos };
}
