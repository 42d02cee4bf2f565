import type { TimeDependencies } from '../rollups/maintenance-transaction.ts';
import type { Day } from '../rules/days.ts';
import type { DaySummary } from '../rules/row-checksum.ts';
import type { ArchiveLock } from './archive-lock.ts';
import type { EventArchive } from './event-archive.ts';

/** The dependencies of archiving events. */
export interface ArchiveDependencies extends TimeDependencies {
  readonly archive: EventArchive;
  readonly lock: ArchiveLock;
}

export interface ArchiveRequest {
  /** The first day that is not archived. */
  readonly before: Day;
  /** Whether the events stay in the database, too. */
  readonly keep: boolean;
  /** Whether a file of this database that differs from it is written again. */
  readonly replace: boolean;
  readonly actor: string;
  readonly reason: string | null;
}

type Step = 'writing' | 'verifying' | 'dropping';

/** Called with the number of events that a step has processed. */
export type OnStep = (step: Step, events: number) => void;

/** Called with the number of events that a step has processed, and that of the day in the database. */
export type OnProgress = (step: Step, events: number, total: number) => void;

/** The events of a verified file, its size, and its version in the archive. */
export interface FileSummary extends DaySummary {
  readonly bytes: number;
  readonly version: string;
}
