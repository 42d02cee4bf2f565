import type { LicenseStatusFacts } from './rules/facts.ts';

/** Returns the field of responses with the end of updates; none for a license that gets all. */
export function viewUpdates({ updatesUntil }: Pick<LicenseStatusFacts, 'updatesUntil'>): {
  readonly updates_until?: string;
} {
  return updatesUntil === null ? {} : { updates_until: updatesUntil.toISOString() };
}
