import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';

import type { Pool } from 'pg';

import { readDatabaseTime } from '#server/db/database-time.ts';
import { archiveDay } from '#server/features/analytics/archive/archive-day.ts';
import { withArchiveLock } from '#server/features/analytics/archive/archive-lock.ts';
import type { EventArchive } from '#server/features/analytics/archive/event-archive.ts';
import { openArchive } from '#server/features/analytics/archive/open-archive.ts';
import { summarizeFile } from '#server/features/analytics/archive/read-file.ts';

import { finishDays, listStoredDays, storePastDay } from '../archived-events.ts';
import { openTestPool } from '../database-pool.ts';
import { openObjectStorage } from '../object-storage.ts';
import { createTestClock } from '../test-clock.ts';

const clock = createTestClock(new Date('2026-03-10T12:00:00Z'));
const storage = await openObjectStorage();
const [first, second] = [await openTestPool(), await openTestPool()];
const directory = await mkdtemp(join(tmpdir(), 'latchkey-archive-race-'));
after(() => rm(directory, { recursive: true }));

const DAYS = ['2026-03-02', '2026-03-03', '2026-03-04'];
const DAY = '2026-03-02';

/** The events of a day in each database. */
const EVENTS = new Map([
  [first, 300],
  [second, 200],
]);

beforeEach(async () => {
  storage.objects.clear();
  for (const [pool, events] of EVENTS) {
    await pool.query('truncate rollup_marks, event_archives');
    for (const day of DAYS) {
      await pool.query(`drop table if exists events_${day.replaceAll('-', '_')}`);
      await storePastDay(pool, day, events);
    }
    await finishDays({ pool, clock, readDatabaseTime });
  }
});

const openDirectory = async () => openArchive(await mkdtemp(join(directory, 'archive-')), {});
const openBucket = () => openArchive('s3://archive', storage.env);

/** Archives days, as one run of the command does. */
async function archiveDays(pool: Pool, archive: EventArchive, days = DAYS): Promise<void> {
  const deps = { archive, pool, clock, readDatabaseTime };
  const request = {
    before: '2026-04-01',
    keep: false,
    replace: false,
    actor: 'cli:test',
    reason: null,
  };
  await withArchiveLock(deps, async (lock) => {
    for (const day of days) await archiveDay({ ...deps, lock }, request, day, () => {});
  });
}

/** Archives each day, in runs of their own, one after the other. */
async function archiveEach(pool: Pool, archive: EventArchive): Promise<void> {
  for (const day of DAYS) {
    const [run] = await Promise.allSettled([archiveDays(pool, archive, [day])]);
    for (const message of messagesOf([run])) assert.match(message, /^ArchiveError: /u);
  }
}

async function countArchived(archive: EventArchive, day: string): Promise<number> {
  const file = await archive.open(day);
  assert.ok(file);
  return (await summarizeFile(file, () => {})).events;
}

async function countDrops(pool: Pool): Promise<number> {
  return (await pool.query(`select from audit_log where action = 'events.drop'`)).rowCount ?? 0;
}

const messagesOf = (runs: readonly PromiseSettledResult<void>[]): string[] =>
  runs.flatMap((run) => (run.status === 'rejected' ? [String(run.reason)] : []));

test('one of several runs at once archives each day, and the others end', async () => {
  const archive = await openDirectory();
  const drops = await countDrops(first);
  const runs = await Promise.allSettled(
    Array.from({ length: 3 }, () => archiveDays(first, archive)),
  );
  const busy = 'ArchiveError: Events are being archived already: wait until that is done.';
  assert.deepEqual(new Set([...messagesOf(runs), busy]), new Set([busy]));
  for (const day of DAYS) assert.equal(await countArchived(archive, day), 300);
  assert.deepEqual([await listStoredDays(first), await countDrops(first)], [[], drops + 3]);
});

for (const [name, open] of [
  ['directory', openDirectory],
  ['bucket', openBucket],
] as const) {
  test(`two databases in one ${name}: no file is overwritten, and its events alone are dropped`, async () => {
    const archive = await open();
    const looked = Promise.withResolvers<void>();
    const stored = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<void>();
    // Both find no file. The second one stores its own after the first one has verified its own, and before its drop.
    const slow: EventArchive = {
      ...archive,
      async store(day, steps) {
        looked.resolve();
        await stored.promise;
        return archive.store(day, steps);
      },
    };
    const quick: EventArchive = {
      ...archive,
      async store(day, steps) {
        await looked.promise;
        return archive.store(day, steps);
      },
      async flush(day) {
        await archive.flush(day);
        stored.resolve();
        await failed.promise;
      },
    };
    const runs = Promise.allSettled([
      archiveDays(second, slow, [DAY]).finally(() => failed.resolve()),
      archiveDays(first, quick, [DAY]),
    ]);
    const messages = messagesOf(await runs);
    assert.equal(messages.length, 1);
    assert.match(messages[0] ?? '', /^ArchiveError: .+ was changed by another program/u);
    assert.equal(await countArchived(archive, DAY), 300);
    assert.ok(!(await listStoredDays(first)).includes(DAY));
    assert.ok((await listStoredDays(second)).includes(DAY));
  });

  test(`two databases at once in one ${name}: every event is in a database or in its file`, async () => {
    const archive = await open();
    await Promise.all([...EVENTS.keys()].map((pool) => archiveEach(pool, archive)));
    let dropped = 0;
    for (const [pool, events] of EVENTS) {
      const left = await listStoredDays(pool);
      for (const day of DAYS.filter((each) => !left.includes(each))) {
        assert.equal(await countArchived(archive, day), events);
        dropped += 1;
      }
    }
    assert.ok(dropped > 0);
  });
}
