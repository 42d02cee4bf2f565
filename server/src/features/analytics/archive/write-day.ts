import { inTransactionOnce } from '#server/db/transaction.ts';

import { readDay, summarizeDay } from '../queries/archive-events.ts';
import { setRollupTransaction, tryLock } from '../queries/transactions.ts';
import type { Day } from '../rules/days.ts';
import { ArchiveError } from './archive-error.ts';
import type { ArchiveDependencies, FileSummary, OnProgress } from './dependencies.ts';
import { summarizeFile } from './read-file.ts';
import { isSame, type DaySummary } from '../rules/row-checksum.ts';
import { writeEventFile } from './write-file.ts';

/**
 * Writes the file of a day, reads it back, and compares it with the database.
 * @throws ArchiveError when it cannot be written, or differs
 */
export async function writeDay(
  { archive, pool }: ArchiveDependencies,
  day: Day,
  onProgress: OnProgress,
): Promise<FileSummary> {
  let stored: DaySummary | undefined;
  let bytes = 0;
  await archive.store(
    day,
    async (path) => {
      // One transaction, so that the events and their checksum are of the same snapshot.
      stored = await inTransactionOnce(pool, async (client) => {
        await setRollupTransaction(client);
        if ((await tryLock(client, 'archive')) === null) {
          throw new ArchiveError('Events are being archived already: wait until that is done.');
        }
        await writeEventFile(path, readDay(client, day), (events) => onProgress('writing', events));
        return summarizeDay(client, day);
      });
    },
    async (file) => {
      bytes = file.byteLength;
      const written = await summarizeFile(file, (events) => onProgress('verifying', events));
      if (stored !== undefined && isSame(written, stored)) return;
      throw new ArchiveError(
        `${file.name} has ${written.events} events after it was written, and not those of the database.`,
      );
    },
  );
  if (stored === undefined) throw new Error('the archive stored nothing');
  return { ...stored, bytes };
}
