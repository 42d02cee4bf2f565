import { insertAuditEntry } from '../../audit/queries.ts';
import { summarizeDay } from '../queries/archive-events.ts';
import { isDropped, upsertArchivedDay } from '../queries/event-archives.ts';
import { listPartitionDays } from '../queries/partitions.ts';
import { countDayEvents } from '../queries/roll-up-events.ts';
import { listMarks } from '../queries/rollup-marks.ts';
import { readEarlierTime, type TimeDependencies } from '../rollups/maintenance-transaction.ts';
import type { Day } from '../rules/days.ts';
import { findUnsettled } from '../rules/rollup-marks.ts';
import { ArchiveError } from './archive-error.ts';
import type {
  ArchiveDependencies,
  ArchiveRequest,
  FileSummary,
  OnProgress,
} from './dependencies.ts';
import { dropDay } from './drop-day.ts';
import { summarizeFile, type EventFile } from './read-file.ts';
import { isSame } from '../rules/row-checksum.ts';
import { writeDay } from './write-day.ts';

/** Days that are stored. */
export interface ArchivePlan {
  readonly closed: readonly Day[];
  /** Their roll-up is not final yet. */
  readonly open: readonly Day[];
}

/** Returns the stored days before a day. */
export async function planArchive(deps: TimeDependencies, before: Day): Promise<ArchivePlan> {
  const now = await readEarlierTime(deps);
  const days = (await listPartitionDays(deps.pool)).filter((day) => day < before);
  const open = findUnsettled(days, await listMarks(deps.pool, 'events'), now);
  return { closed: days.filter((day) => !open.includes(day)), open };
}

/** Records in the audit log that events are about to be copied to an archive. */
export async function recordArchive(
  { archive, clock, pool }: ArchiveDependencies,
  { actor, before, keep, reason, replace }: ArchiveRequest,
): Promise<void> {
  await insertAuditEntry(pool, {
    occurredAt: clock.now(),
    actor,
    action: 'events.archive',
    subjectId: archive.location,
    reason,
    details: { before, keep, replace },
  });
}

/** A day that is in the archive. */
export interface DayOutcome {
  readonly day: Day;
  readonly file: string;
  readonly events: number;
  readonly bytes: number;
  /** False: the file existed already. */
  readonly written: boolean;
  readonly dropped: boolean;
}

/**
 * Archives the events of one closed day and, unless they are kept, drops them. Can be run again after an interruption at any
 * point: a file that has the events of the database is not written again.
 * @returns null for a day without events, which gets no file
 * @throws ArchiveError; the events are then still in the database
 */
export async function archiveDay(
  deps: ArchiveDependencies,
  request: ArchiveRequest,
  day: Day,
  onProgress: OnProgress,
): Promise<DayOutcome | null> {
  const { archive, clock, pool } = deps;
  const existing = await archive.open(day);
  if (existing === null && (await countDayEvents(pool, day)) === 0) return null;
  const found = existing && (await checkFile(deps, request, { day, existing, onProgress }));
  const { bytes, ...summary } = found ?? (await writeDay(deps, day, onProgress));
  const archived = { day, location: archive.location, ...summary };
  await upsertArchivedDay(pool, archived, clock.now());
  if (!request.keep) {
    onProgress('dropping', summary.events);
    await dropDay(deps, request, archived);
  }
  return {
    day,
    file: archive.nameOf(day),
    events: summary.events,
    bytes,
    written: found === null,
    dropped: !request.keep,
  };
}

interface ExistingFile {
  readonly day: Day;
  readonly existing: EventFile;
  readonly onProgress: OnProgress;
}

/**
 * Compares an existing file with the database.
 * @returns null when it is to be written again
 * @throws ArchiveError when they differ
 */
async function checkFile(
  { pool }: ArchiveDependencies,
  { replace }: ArchiveRequest,
  { day, existing, onProgress }: ExistingFile,
): Promise<FileSummary | null> {
  const { byteLength: bytes, name } = existing;
  const stored = await summarizeDay(pool, day);
  const inFile = await summarizeFile(existing, (events) => onProgress('verifying', events)).catch(
    (error: unknown) => {
      if (replace && error instanceof ArchiveError) return null;
      throw error;
    },
  );
  if (inFile !== null && isSame(inFile, stored)) return { ...inFile, bytes };
  if (await isDropped(pool, day)) {
    throw new ArchiveError(
      `The ${stored.events} events of ${day} arrived after the day was archived and dropped, because a clock was wrong: archive them to another place.`,
    );
  }
  if (replace) return null;
  throw new ArchiveError(
    `${name} differs from the database (${inFile?.events ?? 'unknown'} and ${stored.events} events): move it away, or replace it with --replace.`,
  );
}
