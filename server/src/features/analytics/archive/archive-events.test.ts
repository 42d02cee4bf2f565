import assert from 'node:assert/strict';
import { mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';

import { readDatabaseTime } from '#server/db/database-time.ts';

import { finishDays, listStoredDays, storePastDay } from '../../../../test/archived-events.ts';
import { openTestPool } from '../../../../test/database-pool.ts';
import { queryDuckDb } from '../../../../test/duckdb.ts';
import { createTestClock } from '../../../../test/test-clock.ts';
import { createPartition, listPartitionDays } from '../queries/partitions.ts';
import { archiveDay, planArchive, type DayOutcome } from './archive-events.ts';
import { openArchive } from './open-archive.ts';

const pool = await openTestPool();
/** Not later than the database's, which counts, too. */
const clock = createTestClock(new Date('2026-03-10T12:00:00Z'));
const time = { pool, clock, readDatabaseTime };

const DAY = '2026-03-02';
const REQUEST = {
  before: '2026-04-01',
  keep: false,
  replace: false,
  actor: 'cli:test',
  reason: null,
};

let place = '';

beforeEach(async () => {
  for (const day of await listPartitionDays(pool)) {
    await pool.query(`drop table events_${day.replaceAll('-', '_')}`);
  }
  await pool.query(
    'truncate rollup_marks, event_archives, event_name_days, event_days, event_prop_days',
  );
  place = await mkdtemp(join(tmpdir(), 'latchkey-archive-test-'));
  clock.set(new Date('2026-03-10T12:00:00Z'));
});

after(async () => {
  for (const name of await readdir(tmpdir())) {
    if (name.startsWith('latchkey-archive-test-'))
      await rm(join(tmpdir(), name), { recursive: true });
  }
});

async function archive(more: Partial<typeof REQUEST> = {}, day = DAY): Promise<DayOutcome | null> {
  const deps = { ...time, archive: await openArchive(place, {}) };
  return archiveDay(deps, { ...REQUEST, ...more }, day, () => {});
}

const fileOf = (day = DAY): string => join(place, `events/day=${day}/events.parquet`);

/** Stores a closed day. */
async function closeDay(events: number, day = DAY): Promise<void> {
  await storePastDay(pool, day, events);
  await finishDays(time);
}

describe('the file of a day', () => {
  test('has the columns and the values of the table', async () => {
    await closeDay(100);
    const { rows } =
      await pool.query(`select event_id::text, received_at::text, install_id::text, session_id::text,
      name, occurred_at::text, client_occurred_at::text, app_version, os_version, props::text
      from events order by event_id`);
    assert.equal((await archive({ keep: true }))?.events, 100);
    const archived =
      await queryDuckDb(`select event_id::varchar as event_id, received_at::varchar as received_at,
      install_id::varchar as install_id, session_id::varchar as session_id, name, occurred_at::varchar as occurred_at,
      client_occurred_at::varchar as client_occurred_at, app_version, os_version, props::varchar as props
      from '${fileOf()}' order by event_id::varchar`);
    assert.deepEqual(archived, rows);
  });

  test('has logical types that other programs know', async () => {
    await closeDay(10);
    await archive();
    const columns = await queryDuckDb(`describe select * from '${fileOf()}'`);
    assert.deepEqual(
      columns.map((column) => [column['column_name'], column['column_type']]),
      [
        ['event_id', 'UUID'],
        ['received_at', 'TIMESTAMP WITH TIME ZONE'],
        ['install_id', 'UUID'],
        ['session_id', 'UUID'],
        ['name', 'VARCHAR'],
        ['occurred_at', 'TIMESTAMP WITH TIME ZONE'],
        ['client_occurred_at', 'TIMESTAMP WITH TIME ZONE'],
        ['app_version', 'VARCHAR'],
        ['os_version', 'VARCHAR'],
        ['props', 'JSON'],
        // From the name of the directory.
        ['day', 'DATE'],
      ],
    );
  });

  test('is sorted by install and time, in row groups that name the range of both', async () => {
    await closeDay(25_000);
    await archive();
    const groups = await queryDuckDb(`
      select row_group_num_rows as n from parquet_metadata('${fileOf()}')
      where path_in_schema = 'install_id' and stats_min_value is not null and stats_max_value is not null`);
    assert.deepEqual(
      groups.map(({ n }) => n),
      ['10000', '10000', '5000'],
    );
    const unsorted = await queryDuckDb(`
      select 1 as wrong from (
        select (install_id::varchar, received_at) as key, lag(key) over (order by file_row_number) as before
        from read_parquet('${fileOf()}', file_row_number = true))
      where key < before`);
    assert.deepEqual(unsorted, []);
  });

  test('can be read by its owner only', { skip: process.platform === 'win32' }, async () => {
    await closeDay(10);
    await archive();
    assert.equal((await stat(fileOf())).mode & 0o777, 0o600);
    assert.equal((await stat(join(place, 'events'))).mode & 0o777, 0o700);
  });
});

describe('a closed day', () => {
  test('is dropped after its file is verified, and recorded', async () => {
    await closeDay(30);
    await storePastDay(pool, '2026-03-03', 5);
    const outcome = await archive({ keep: false });
    const { size } = await stat(fileOf());
    assert.deepEqual(outcome, {
      day: DAY,
      file: fileOf(),
      events: 30,
      bytes: size,
      written: true,
      dropped: true,
    });
    assert.deepEqual(await listPartitionDays(pool), ['2026-03-03']);
    const { rows } = await pool.query(
      `select to_char(day, 'YYYY-MM-DD') as day, location, events, archived_at, dropped_at from event_archives`,
    );
    const now = clock.now();
    const recorded = { day: DAY, location: place, events: 30, archived_at: now, dropped_at: now };
    assert.deepEqual(rows, [recorded]);
  });

  test('is not written again when its file is complete', async () => {
    await closeDay(30);
    await archive({ keep: true });
    const { mtimeMs } = await stat(fileOf());
    const again = await archive();
    assert.deepEqual([again?.written, again?.dropped], [false, true]);
    assert.equal((await stat(fileOf())).mtimeMs, mtimeMs);
    assert.deepEqual(await listStoredDays(pool), []);
  });

  test('has no file without events', async () => {
    await createPartition(pool, DAY);
    await finishDays(time);
    assert.equal(await archive(), null);
    assert.deepEqual(await readdir(place), []);
  });

  test('is one whose reports are final: a day after its end, by both clocks', async () => {
    await closeDay(5, '2026-03-08');
    await storePastDay(pool, '2026-03-09', 5);
    await finishDays(time);
    const plan = await planArchive(time, '2026-04-01');
    assert.deepEqual(plan, { closed: ['2026-03-08'], open: ['2026-03-09'] });
    assert.deepEqual(await planArchive(time, '2026-03-08'), { closed: [], open: [] });
    clock.set(new Date('2026-03-11T00:00:00Z'));
    await finishDays(time);
    const later = await planArchive(time, '2026-04-01');
    assert.deepEqual(later, { closed: ['2026-03-08', '2026-03-09'], open: [] });
  });
});

describe('nothing is dropped', () => {
  test('when an existing file has other events', async () => {
    await closeDay(30);
    await archive({ keep: true });
    await pool.query('update events set app_version = app_version || $1 where event_id = $2', [
      '!',
      (await pool.query('select event_id from events limit 1')).rows[0].event_id,
    ]);
    const message = `${fileOf()} differs from the database (30 and 30 events): move it away, or replace it with --replace.`;
    await assert.rejects(archive(), { name: 'ArchiveError', message });
    assert.deepEqual(await listStoredDays(pool), [DAY]);
    const replaced = await archive({ replace: true });
    assert.deepEqual([replaced?.written, replaced?.dropped], [true, true]);
  });

  test('when an existing file is damaged, which --replace repairs', async () => {
    for (const damage of [cutFile, changeByte]) {
      await rm(join(place, 'events'), { recursive: true, force: true });
      await pool.query('drop table if exists events_2026_03_02');
      await closeDay(300);
      await archive({ keep: true });
      await damage();
      await assert.rejects(archive(), { name: 'ArchiveError' });
      assert.deepEqual(await listStoredDays(pool), [DAY]);
      assert.equal((await archive({ replace: true, keep: true }))?.written, true);
      const [count] = await queryDuckDb(`select count(*) as n from '${fileOf()}'`);
      assert.equal(count?.['n'], '300');
    }
  });

  test('when an event arrives after the file was written', async () => {
    await closeDay(30);
    const opened = await openArchive(place, {});
    const store: typeof opened.store = async (...args) => {
      await opened.store(...args);
      await pool.query(LATE_EVENT);
    };
    const deps = { ...time, archive: { ...opened, store } };
    await assert.rejects(
      archiveDay(deps, REQUEST, DAY, () => {}),
      {
        message: `The events of ${DAY} changed while they were archived, and were not dropped: run the command again with --replace.`,
      },
    );
    assert.deepEqual(await listStoredDays(pool), [DAY]);
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
        message: `The 1 events of ${DAY} arrived after the day was archived and dropped, because a clock was wrong: archive them to another place.`,
      });
    }
    assert.deepEqual(await listStoredDays(pool), [DAY]);
  });
});

const LATE_EVENT = `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version)
  values (gen_random_uuid(), '2026-03-02T13:00:00Z', gen_random_uuid(), gen_random_uuid(), 'late', now(), '1')`;

async function cutFile(): Promise<void> {
  await using file = await open(fileOf(), 'r+');
  await file.truncate(2_000);
}

async function changeByte(): Promise<void> {
  await using file = await open(fileOf(), 'r+');
  await file.write(Buffer.from([255]), 0, 1, 1_000);
}
