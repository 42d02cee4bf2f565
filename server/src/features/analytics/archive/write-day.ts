import type { FileHandle } from 'node:fs/promises';

import { inTransactionOnce } from '#server/db/transaction.ts';
import { countOf } from '#server/lib/text.ts';

import { readDay, summarizeDay } from '../queries/archive-events.ts';
import { insertArchivedDay } from '../queries/event-archives.ts';
import { setRollupTransaction } from '../queries/transactions.ts';
import type { Day } from '../rules/days.ts';
import { isSame, type DaySummary } from '../rules/row-checksum.ts';
import { DamagedFileError, UnverifiedFileError } from './archive-error.ts';
import type { ArchiveDependencies, FileSummary, OnStep } from './dependencies.ts';
import { summarizeFile, type EventFile } from './read-file.ts';
import { writeEventFile } from './write-file.ts';

/**
 * Writes the file of a day, reads it back, and compares it with the database.
 * @param replaces the version of the existing file; null: there is none
 * @throws ArchiveError when it cannot be written, or differs
 */
export async function writeDay(
  { archive, clock, lock, pool }: ArchiveDependencies,
  { day, replaces }: { readonly day: Day; readonly replaces: string | null },
  onStep: OnStep,
): Promise<FileSummary> {
  let stored: DaySummary | undefined;
  let bytes = 0;
  const write = async (file: FileHandle): Promise<void> => {
    // One transaction, so that the events and their checksum are of the same snapshot.
    stored = await inTransactionOnce(pool, async (client) => {
      await setRollupTransaction(client);
      await writeEventFile(file, readDay(client, day), (events) => onStep('writing', events));
      return summarizeDay(client, day);
    });
    await lock.requireHeld();
    // Before the file gets its name, so that an erasure finds every file.
    await insertArchivedDay(pool, { day, location: archive.location, ...stored }, clock.now());
  };
  const verify = async (file: EventFile): Promise<void> => {
    bytes = file.byteLength;
    const written = await summarizeWritten(file, (events) => onStep('verifying', events));
    if (stored === undefined || !isSame(written, stored)) {
      throw new UnverifiedFileError(
        `${file.name} has ${countOf(written.events, 'event')} after it was written, and not those of the database.`,
      );
    }
    await lock.requireHeld();
  };
  const version = await archive.store(day, { replaces, write, verify });
  if (stored === undefined) throw new Error('the archive stored nothing');
  return { ...stored, bytes, version };
}

async function summarizeWritten(
  file: EventFile,
  onRows: (events: number) => void,
): Promise<DaySummary> {
  try {
    return await summarizeFile(file, onRows);
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error;
    throw new UnverifiedFileError(error.message, { cause: error });
  }
}
