import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { finishDays, listStoredDays, storePastDay } from '../../../../test/archived-events.ts';
import { queryDuckDb } from '../../../../test/duckdb.ts';
import { createPartition, listPartitionDays } from '../queries/partitions.ts';
import { DAY, openArchiveFixture } from './archive.fixture.ts';
import { planArchive } from './plan-archive.ts';

const { archive, clock, closeDay, fileOf, place, pool, time } = await openArchiveFixture();

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
    assert.equal((await stat(join(place(), 'events'))).mode & 0o777, 0o700);
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
    const recorded = { day: DAY, location: place(), events: 30, archived_at: now, dropped_at: now };
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
    assert.deepEqual(await readdir(place()), []);
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
