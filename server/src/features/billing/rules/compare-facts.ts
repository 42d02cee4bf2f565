import { compareOccurrences, type Occurrence } from '../facts.ts';

/** Compares for sorting, by code units. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** By time, then by event id, so that the order is deterministic. */
export function compareVersions(
  a: Occurrence & { readonly eventId: string },
  b: Occurrence & { readonly eventId: string },
): number {
  return compareOccurrences(a, b) || compareText(a.eventId, b.eventId);
}
