import assert from 'node:assert/strict';
import { open as openPath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';

import { finishDays, listStoredDays } from '../../../../test/archived-events.ts';
import { createPartition } from '../queries/partitions.ts';
import { DAY, LATE_EVENT, openArchiveFixture } from './archive.fixture.ts';

const { archive, archiveTo, assertArchived, closeDay, fileOf, open, pool, time } =
  await openArchiveFixture();

describe('nothing is dropped', () => {
  test('when an existing file has other events', async () => {
    await closeDay(30);
    await archive({ keep: true });
    await pool.query('update events set app_version = app_version || $1 where event_id = $2', [
      '!',
      (await pool.query('select event_id from events limit 1')).rows[0].event_id,
    ]);
    const message = `${fileOf()} differs from the database (30 and 30 events): write it again with --replace.`;
    await assert.rejects(archive(), { name: 'ArchiveError', message });
    assert.deepEqual(await listStoredDays(pool), [DAY]);
    const replaced = await archive({ replace: true });
    assert.deepEqual([replaced?.written, replaced?.dropped], [true, true]);
  });

  test('when an existing file is incomplete, which --replace repairs', async () => {
    await closeDay(300);
    await archive({ keep: true });
    await cutFile();
    const message = `${fileOf()} is damaged: write it again with --replace.`;
    await assert.rejects(archive(), { name: 'ArchiveError', message });
    assert.deepEqual(await listStoredDays(pool), [DAY]);
    assert.equal((await archive({ replace: true, keep: true }))?.written, true);
    await assertArchived(300);
  });

  test('when a byte of an existing file changed, which looks like a file of another database', async () => {
    await closeDay(300);
    await archive({ keep: true });
    await changeByte();
    for (const replace of [false, true]) {
      await assert.rejects(archive({ replace }), {
        message: `${fileOf()} differs from the database (300 and 300 events), and another database may have written it: archive to another directory or prefix, or move the file away.`,
      });
    }
    assert.deepEqual(await listStoredDays(pool), [DAY]);
    await rename(fileOf(), `${fileOf()}.damaged`);
    assert.deepEqual((await archive())?.dropped, true);
    await assertArchived(300);
  });

  test('when an event arrives after the file was written', async () => {
    await closeDay(30);
    const opened = await open();
    const store: typeof opened.store = async (...args) => {
      const version = await opened.store(...args);
      await pool.query(LATE_EVENT);
      return version;
    };
    await assert.rejects(archiveTo({ ...opened, store }), {
      name: 'ArchiveError',
      message: `The events of ${DAY} changed while they were archived, and were not dropped: run the command again with --replace.`,
    });
    assert.deepEqual(await listStoredDays(pool), [DAY]);
    await finishDays(time);
    assert.equal((await archive({ replace: true }))?.events, 31);
    await assertArchived(31);
  });

  test('when the reports do not cover all events', async () => {
    await closeDay(30);
    await pool.query(LATE_EVENT);
    await assert.rejects(archive(), {
      message: `The reports do not cover all events of ${DAY}, which were not dropped: run latchkey report refresh, then this command again.`,
    });
    await finishDays(time);
    assert.equal((await archive())?.events, 31);
    const reported = 'select sum(events)::integer as n from event_name_days';
    assert.equal((await pool.query(reported)).rows[0].n, 31);
  });

  test('of events that arrived after the drop, and the reports keep their numbers', async () => {
    await closeDay(30);
    await archive();
    await createPartition(pool, DAY);
    await pool.query(LATE_EVENT);
    await finishDays(time);
    const reported = 'select sum(events)::integer as n from event_name_days';
    assert.equal((await pool.query(reported)).rows[0].n, 30);
    for (const replace of [false, true]) {
      await assert.rejects(archive({ replace }), {
        message: `1 event of ${DAY} arrived after the day was archived and dropped, because a clock was wrong: archive to another directory or prefix.`,
      });
    }
    assert.deepEqual(await listStoredDays(pool), [DAY]);
    await assertArchived(30);
  });

  test('when its file is damaged after the drop, and a late event arrives', async () => {
    await closeDay(300);
    await archive();
    await cutFile();
    await createPartition(pool, DAY);
    await pool.query(LATE_EVENT);
    await finishDays(time);
    for (const replace of [false, true]) {
      await assert.rejects(
        archive({ replace }),
        /^ArchiveError: 1 event of 2026-03-02 arrived after/u,
      );
    }
    assert.equal((await stat(fileOf())).size, 2_000);
  });

  test('when another database has written the file, also with --replace', async () => {
    await closeDay(30);
    await archive({ keep: true });
    await pool.query('truncate event_archives');
    await pool.query(LATE_EVENT);
    for (const replace of [false, true]) {
      await assert.rejects(archive({ replace }), {
        message: `${fileOf()} differs from the database (30 and 31 events), and another database may have written it: archive to another directory or prefix, or move the file away.`,
      });
    }
    await assertArchived(30);
  });

  test('when its events were erased, and their file is not overwritten by an empty one', async () => {
    await closeDay(30);
    await archive({ keep: true });
    await pool.query('delete from events');
    await finishDays(time);
    const message = `${fileOf()} exists, and the database has no events of ${DAY}: if they were erased, remove the file.`;
    for (const replace of [false, true]) {
      await assert.rejects(archive({ replace }), { name: 'ArchiveError', message });
    }
    await assertArchived(30);
    await rm(fileOf());
    assert.equal(await archive(), null);
  });

  test('when the file was replaced or removed after it was verified', async () => {
    await closeDay(30);
    const opened = await open();
    const changes = [() => writeFile(fileOf(), 'other'), () => rm(fileOf(), { force: true })];
    for (const change of changes) {
      await rm(fileOf(), { force: true });
      const flush: typeof opened.flush = async (day) => {
        await opened.flush(day);
        await change();
      };
      await assert.rejects(archiveTo({ ...opened, flush }), {
        message: `${fileOf()} was changed by another program at the same time: use one directory or prefix for each database, and run the command again.`,
      });
      assert.deepEqual(await listStoredDays(pool), [DAY]);
    }
  });

  test('when the database connection of the lock is lost', async () => {
    await closeDay(30);
    const opened = await open();
    const flush: typeof opened.flush = async (day) => {
      await opened.flush(day);
      await endArchiveLock();
    };
    await assert.rejects(archiveTo({ ...opened, flush }), {
      name: 'ArchiveError',
      message:
        'The database connection that holds the lock of the archive was lost: run the command again.',
    });
    assert.deepEqual(await listStoredDays(pool), [DAY]);
    assert.equal((await archive())?.written, false);
  });
});

/** Ends the connection that holds the lock of the archive. */
async function endArchiveLock(): Promise<void> {
  const { rows } = await pool.query(
    `select pg_terminate_backend(pid, 5000) as ended from pg_locks
     where locktype = 'advisory' and (classid::bigint << 32 | objid::bigint) = hashtextextended('latchkey archive', 0)
       and database = (select oid from pg_database where datname = current_database())`,
  );
  assert.deepEqual(rows, [{ ended: true }]);
}

async function cutFile(): Promise<void> {
  await using file = await openPath(fileOf(), 'r+');
  await file.truncate(2_000);
}

async function changeByte(): Promise<void> {
  await using file = await openPath(fileOf(), 'r+');
  await file.write(Buffer.from([255]), 0, 1, 1_000);
}
