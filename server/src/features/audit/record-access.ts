import type { Context } from '#server/context.ts';

import { insertAuditEntry, type AuditEntry } from './queries.ts';

/** What is about to be shown, to whom and why. */
export type AccessEntry = Omit<AuditEntry, 'occurredAt'>;

/** Cannot be constructed outside this file: whoever has one has written its audit row. */
class Recorded {
  readonly entry: AccessEntry;
  /** Keeps any other object from being of this type. */
  protected readonly isRecorded = true;

  constructor(entry: AccessEntry) {
    this.entry = entry;
  }
}

/** The proof that an audit row is committed for what is about to be shown. */
export type RecordedAccess = Recorded;

/**
 * Records that secrets or personal data are about to be shown. Call it before the first byte is printed: an access that
 * breaks off is recorded all the same, and one that cannot be recorded does not happen.
 * @throws the error of the database when the row cannot be written
 */
export async function recordAccess(
  { pool, clock }: Pick<Context, 'pool' | 'clock'>,
  entry: AccessEntry,
): Promise<RecordedAccess> {
  await insertAuditEntry(pool, { ...entry, occurredAt: clock.now() });
  return new Recorded(entry);
}
