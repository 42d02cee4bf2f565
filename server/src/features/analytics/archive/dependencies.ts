import type { TimeDependencies } from '../rollups/maintenance-transaction.ts';
import type { Day } from '../rules/days.ts';
import type { EventArchive } from './event-archive.ts';
import type { DaySummary } from '../rules/row-checksum.ts';

/** The dependencies of archiving events. */
export interface ArchiveDependencies extends TimeDependencies {
  readonly archive: EventArchive;
}

export interface ArchiveRequest {
  /** The first day that is not archived. */
  readonly before: Day;
  /** Whether the events stay in the database, too. */
  readonly keep: boolean;
  /** Whether a file that differs from the database is written again. */
  readonly replace: boolean;
  readonly actor: string;
  readonly reason: string | null;
}

/** Called with the number of events that a step has processed. */
export type OnProgress = (step: 'writing' | 'verifying' | 'dropping', events: number) => void;

/** The events of a file, and its size. */
export interface FileSummary extends DaySummary {
  readonly bytes: number;
}
