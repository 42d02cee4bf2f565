import assert from 'node:assert/strict';
import fs, { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';

import { finishDays, listStoredDays } from '../../../../test/archived-events.ts';
import { eventually } from '../../../../test/eventually.ts';
import { createPartition, listPartitionDays } from '../queries/partitions.ts';
import { DAY, LATE_EVENT, openArchiveFixture } from './archive.fixture.ts';

const fixture = await openArchiveFixture();
const { archive, archiveTo, assertArchived, closeDay, fileOf, open, pool, time } = fixture;
const { useNewDirectory } = fixture;

describe('events that arrived after the drop', () => {
  test('can be archived to another directory', async () => {
    await closeDay(30);
    await archive();
    const first = fileOf();
    await createPartition(pool, DAY);
    await pool.query(LATE_EVENT);
    await finishDays(time);
    await useNewDirectory();
    const outcome = await archive();
    assert.deepEqual([outcome?.events, outcome?.dropped], [1, true]);
    await assertArchived(30, first);
    await assertArchived(1);
    assert.deepEqual(await listPartitionDays(pool), []);
    const reported = 'select sum(events)::integer as n from event_name_days';
    assert.equal((await pool.query(reported)).rows[0].n, 30);
  });
});

describe('a drop', () => {
  test('that another process has done before is not recorded in the audit log', async () => {
    await closeDay(30);
    const opened = await open();
    const flush: typeof opened.flush = async (day) => {
      await opened.flush(day);
      await pool.query('drop table events_2026_03_02');
    };
    const entries = await countDrops();
    assert.equal((await archiveTo({ ...opened, flush }))?.dropped, false);
    assert.equal(await countDrops(), entries);
  });

  test('flushes the file and its three directories before, also of a file that exists', async (t) => {
    await closeDay(30);
    await archive({ keep: true });
    const opened = await open();
    const flush = t.mock.fn((day: string) => opened.flush(day));
    const handle = await fs.open(fileOf());
    const sync = t.mock.method(handle.constructor.prototype, 'sync');
    await handle.close();
    assert.equal((await archiveTo({ ...opened, flush }))?.written, false);
    assert.deepEqual([flush.mock.callCount(), sync.mock.callCount()], [1, 4]);
  });

  test('waits in one transaction while others read, so that it compares the events once', async () => {
    await closeDay(30);
    const locks: string[] = [];
    const opened = await open();
    const findVersion: typeof opened.findVersion = async (day) => {
      locks.push(await findPartitionLock());
      return opened.findVersion(day);
    };
    await using reader = await readEvents();
    const dropping = archiveTo({ ...opened, findVersion });
    await eventually(() => locks.length === 2);
    await reader.end();
    assert.equal((await dropping)?.dropped, true);
    assert.deepEqual([new Set(locks).size, locks[0]?.length !== 0], [1, true]);
  });

  test('yields to an event that waits for the day', async () => {
    await closeDay(30);
    const opened = await open();
    let late: Promise<unknown> | undefined;
    const findVersion: typeof opened.findVersion = async (day) => {
      // On a busy machine it waits longer than the service lets it.
      late ??= pool.query(`begin; set local lock_timeout = 0; ${LATE_EVENT}; commit`);
      await eventually(async () => (await countWaiting()) === 1);
      return opened.findVersion(day);
    };
    await using reader = await readEvents();
    await assert.rejects(archiveTo({ ...opened, findVersion }), {
      message: `The events of ${DAY} changed while they were archived, and were not dropped: run the command again with --replace.`,
    });
    await late;
    await reader.end();
    assert.deepEqual(await listStoredDays(pool), [DAY]);
  });
});

describe('one directory', () => {
  test('is locked for a second run, which does not touch the file that is being written', async () => {
    await closeDay(30);
    const opened = await open();
    const seen: string[][] = [];
    const store: typeof opened.store = (day, steps) => {
      const verify: typeof steps.verify = async (file) => {
        await assert.rejects(archive(), {
          message: 'Events are being archived already: wait until that is done.',
        });
        seen.push(await readdir(dirname(fileOf())));
        await steps.verify(file);
      };
      return opened.store(day, { ...steps, verify });
    };
    assert.equal((await archiveTo({ ...opened, store }))?.dropped, true);
    assert.match(seen.join(' '), /^\.events\.parquet\.[0-9a-f-]{36}\.partial$/u);
    await assertArchived(30);
  });

  test('is cleared of incomplete files under the lock only', async () => {
    await closeDay(30);
    await archive({ keep: true });
    const names = ['.events.parquet.partial', '.events.parquet.1.partial', 'notes.partial'];
    for (const name of names) await writeFile(join(dirname(fileOf()), name), '');
    await archive({ keep: true });
    assert.deepEqual(await readdir(dirname(fileOf())), ['events.parquet', 'notes.partial']);
  });

  test('of a filesystem without hard links gets files, and keeps those of others', async (t) => {
    t.mock.method(fs, 'link', async () => {
      throw Object.assign(new Error('not supported'), { code: 'EPERM', syscall: 'link' });
    });
    syncBuiltinESMExports();
    t.after(syncBuiltinESMExports);
    await closeDay(30);
    const opened = await open();
    const store: typeof opened.store = (day, steps) => {
      const verify: typeof steps.verify = async (file) => {
        await steps.verify(file);
        await writeFile(fileOf(), 'of another');
      };
      return opened.store(day, { ...steps, verify });
    };
    await assert.rejects(archiveTo({ ...opened, store }), /was changed by another program/u);
    assert.equal(await readFile(fileOf(), 'utf8'), 'of another');
    await rm(fileOf());
    assert.equal((await archive())?.dropped, true);
    assert.deepEqual(await readdir(dirname(fileOf())), ['events.parquet']);
    await assertArchived(30);
  });
});

/** Reads events in a transaction that stays open, as a backup does. */
async function readEvents() {
  const reader = await pool.connect();
  await reader.query('begin; select from events');
  const end = async (): Promise<void> => void (await reader.query('rollback'));
  return {
    end,
    async [Symbol.asyncDispose]() {
      await end();
      reader.release();
    },
  };
}

/** Returns the transaction that keeps others from changing the day. */
async function findPartitionLock(): Promise<string> {
  const { rows } = await pool.query(
    `select virtualtransaction as held from pg_locks
     where relation = 'events_2026_03_02'::regclass and mode = 'ShareLock' and granted`,
  );
  return rows.map(({ held }) => held).join(' ');
}

async function countWaiting(): Promise<number | null> {
  const waiting = `select from pg_locks where relation = 'events_2026_03_02'::regclass and not granted`;
  return (await pool.query(waiting)).rowCount;
}

async function countDrops(): Promise<number | null> {
  return (await pool.query(`select from audit_log where action = 'events.drop'`)).rowCount;
}
