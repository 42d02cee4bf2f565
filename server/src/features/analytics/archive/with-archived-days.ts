import type { Pool } from 'pg';

import type { Queryable } from '#server/db/statement.ts';
import { inTransactionOnce } from '#server/db/transaction.ts';

import {
  replaceEventNames,
  replaceEventProps,
  replaceEventVersions,
} from '../queries/roll-up-events.ts';
import {
  analyzeTemporaryEvents,
  createTemporaryRollups,
  emptyTemporaryEvents,
  insertArchivedEvents,
} from '../queries/temporary-rollups.ts';
import { allowLongStatements } from '../queries/transactions.ts';
import type { Day, DayRange } from '../rules/days.ts';
import { ArchiveError } from './archive-error.ts';
import type { EventArchive } from './event-archive.ts';
import { readEventFile } from './read-file.ts';

/**
 * Runs reports of events on roll-ups in which the days of an archive are computed from its files, by the statements of the
 * permanent roll-ups. The other days are those of the database, which is not changed. Events are loaded by row group and day into a
 * temporary table.
 * @param report reads roll-ups with the given connection
 * @throws ArchiveError for an archive that cannot be read
 */
export async function withArchivedDays<Result>(
  { archive, pool }: { readonly archive: EventArchive; readonly pool: Pool },
  { from, to }: DayRange,
  report: (db: Queryable) => Promise<Result>,
  onProgress: (day: Day, events: number) => void,
): Promise<Result> {
  const days = (await archive.listDays()).filter((day) => day >= from && day <= to);
  return inTransactionOnce(pool, async (client) => {
    await allowLongStatements(client);
    await createTemporaryRollups(client, days);
    for (const day of days) {
      await loadDay(client, archive, day, (events) => onProgress(day, events));
      await replaceEventNames(client, day);
      await replaceEventVersions(client, day);
      await replaceEventProps(client, day);
      await emptyTemporaryEvents(client);
    }
    return report(client);
  });
}

async function loadDay(
  db: Queryable,
  archive: EventArchive,
  day: Day,
  onRows: (events: number) => void,
): Promise<void> {
  const file = await archive.open(day);
  if (file === null) {
    throw new ArchiveError(`${archive.nameOf(day)} was removed while the archive was read.`);
  }
  let events = 0;
  try {
    for await (const rows of readEventFile(file)) {
      await insertArchivedEvents(db, rows);
      events += rows.length;
      onRows(events);
    }
  } finally {
    await file.close();
  }
  await analyzeTemporaryEvents(db);
}
