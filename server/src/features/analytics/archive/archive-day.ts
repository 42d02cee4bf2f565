import { countOf } from '#server/lib/text.ts';

import { summarizeDay } from '../queries/archive-events.ts';
import { findArchivedDay, isDropped, upsertArchivedDay } from '../queries/event-archives.ts';
import { countDayEvents } from '../queries/roll-up-events.ts';
import type { Day } from '../rules/days.ts';
import { mayReplace } from '../rules/may-replace.ts';
import { isSame, type DaySummary } from '../rules/row-checksum.ts';
import { DamagedFileError, DayError } from './archive-error.ts';
import type {
  ArchiveDependencies,
  ArchiveRequest,
  FileSummary,
  OnProgress,
  OnStep,
} from './dependencies.ts';
import { dropDay } from './drop-day.ts';
import { summarizeFile, type EventFile } from './read-file.ts';
import { writeDay } from './write-day.ts';

/** A day that is in the archive. */
export interface DayOutcome {
  readonly day: Day;
  readonly file: string;
  readonly events: number;
  readonly bytes: number;
  /** False: the file existed already. */
  readonly written: boolean;
  /** False: the events are kept, or another process has dropped them before. */
  readonly dropped: boolean;
}

/**
 * Archives the events of one closed day and, unless they are kept, drops them. Can be run again after an interruption at any
 * point: a file that has the events of the database is not written again. Call it with the lock of the archive.
 * @returns null for a day without events, which gets no file
 * @throws DayError, ArchiveError; the events are then still in the database
 */
export async function archiveDay(
  deps: ArchiveDependencies,
  request: ArchiveRequest,
  day: Day,
  onProgress: OnProgress,
): Promise<DayOutcome | null> {
  const { archive, clock, pool } = deps;
  const total = await countDayEvents(pool, day);
  if (total === 0) {
    await requireNothingErased(deps, day);
    return null;
  }
  const onStep: OnStep = (step, processed) => onProgress(step, processed, total);
  const existing = await archive.open(day);
  const found = existing && (await checkFile(deps, request, { day, existing, onStep }));
  const replaces = existing?.version ?? null;
  const file = found ?? (await writeDay(deps, { day, replaces }, onStep));
  const { events, checksum, bytes } = file;
  await archive.flush(day);
  const { location } = archive;
  await upsertArchivedDay(pool, { day, location, events, checksum }, clock.now());
  if (!request.keep) onStep('dropping', events);
  const dropped = !request.keep && (await dropDay(deps, request, { day, ...file }));
  return { day, file: archive.nameOf(day), events, bytes, written: found === null, dropped };
}

/** @throws DayError for a file of this database whose events are not in it any more, although they were not dropped */
async function requireNothingErased(
  { archive, pool }: ArchiveDependencies,
  day: Day,
): Promise<void> {
  if ((await findArchivedDay(pool, day, archive.location)) === null) return;
  if ((await archive.findVersion(day)) === null || (await isDropped(pool, day))) return;
  throw new DayError(
    `${archive.nameOf(day)} exists, and the database has no events of ${day}: if they were erased, remove the file.`,
  );
}

interface ExistingFile {
  readonly day: Day;
  readonly existing: EventFile;
  readonly onStep: OnStep;
}

/**
 * Compares an existing file with the database.
 * @returns null when it is to be written again
 * @throws DayError when they differ
 */
async function checkFile(
  { archive, pool }: ArchiveDependencies,
  { replace }: ArchiveRequest,
  { day, existing, onStep }: ExistingFile,
): Promise<FileSummary | null> {
  const { byteLength: bytes, version } = existing;
  const inFile = await summarizeReadable(existing, (events) => onStep('verifying', events));
  const stored = await summarizeDay(pool, day);
  if (inFile !== null && isSame(inFile, stored)) return { ...inFile, bytes, version };
  if (mayReplace(await findArchivedDay(pool, day, archive.location), inFile)) {
    if (replace) return null;
    throw new DayError(`${describe(existing, inFile, stored)}: write it again with --replace.`);
  }
  if (await isDropped(pool, day)) {
    throw new DayError(
      `${countOf(stored.events, 'event')} of ${day} arrived after the day was archived and dropped, because a clock was wrong: archive to another directory or prefix.`,
    );
  }
  throw new DayError(
    `${describe(existing, inFile, stored)}, and another database may have written it: archive to another directory or prefix, or move the file away.`,
  );
}

/** Returns null for a damaged file. */
async function summarizeReadable(
  file: EventFile,
  onRows: (events: number) => void,
): Promise<DaySummary | null> {
  try {
    return await summarizeFile(file, onRows);
  } catch (error) {
    if (error instanceof DamagedFileError) return null;
    throw error;
  }
}

function describe({ name }: EventFile, inFile: DaySummary | null, stored: DaySummary): string {
  return inFile === null
    ? `${name} is damaged`
    : `${name} differs from the database (${inFile.events} and ${countOf(stored.events, 'event')})`;
}
