/** Feature: log of every manual change, and every access to secrets or personal data. */
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';

import { insertAuditEntry, type AuditEntry } from './queries.ts';

/** An access that is about to happen. */
export type AccessEntry = Omit<AuditEntry, 'occurredAt'>;

/** Cannot be constructed outside this file, so that an instance proves its audit row. */
class Recorded {
  readonly entry: AccessEntry;
  /** Prevents any other object from having this type. */
  protected readonly isRecorded = true;

  constructor(entry: AccessEntry) {
    this.entry = entry;
  }
}

/** The proof that the audit row of an access is committed. */
export type RecordedAccess = Recorded;

/**
 * Records an access to secrets or personal data. Call it before the first byte is printed: an interrupted access is
 * recorded too, and an access that cannot be recorded does not happen.
 * @throws the error of the database when the row cannot be written
 */
export async function recordAccess(
  { pool, clock }: { readonly pool: Pool; readonly clock: Clock },
  entry: AccessEntry,
): Promise<RecordedAccess> {
  await insertAuditEntry(pool, { ...entry, occurredAt: clock.now() });
  return new Recorded(entry);
}
