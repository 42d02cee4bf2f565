import { isSame, type DaySummary } from './row-checksum.ts';

/** What a database has written to an archive for a day. */
interface Written extends DaySummary {
  /** Null: the events are still in the database. */
  readonly droppedAt: Date | null;
}

/**
 * Whether the file of a day may be overwritten: only if this database has written it and still has its events, since a file of
 * another database, or of events that were dropped, may be their only copy.
 * @param inFile null: it is damaged
 */
export function mayReplace(written: Written | null, inFile: DaySummary | null): boolean {
  if (written === null || written.droppedAt !== null) return false;
  return inFile === null || isSame(written, inFile);
}
