import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { TaskRunner } from '#server/jobs/background-task.ts';
import { createMetrics } from '#server/metrics.ts';

import { eventually } from '../../../test/eventually.ts';
import { startTestService } from '../../../test/harness.ts';
import { spreadsTables } from '../../../test/test-cluster.ts';
import { DAY_MS, HOUR_MS, TEST_START } from '../../../test/test-clock.ts';
import { writeDrops } from './event-counts.ts';
import { createPartition, listPartitionDays } from './queries/partitions.ts';
import { upsertRemovalClock } from './queries/removal.ts';
import { tryLock } from './queries/transactions.ts';
import { removeOldData } from './remove-old-data.ts';
import { runRollups } from './rollups/run-rollups.ts';
import { dayOf } from './rules/days.ts';
import { createAnalyticsTasks } from './housekeeping.ts';
import { indexPastPartitions } from './index-past-partitions.ts';

const service = await startTestService();
const beside = await startTestService({ beside: service });
const { context, clock, pool } = service;
const idle = new AbortController().signal;

/** A thousandth of the pauses: seconds are milliseconds. */
const FAST = 0.001;

beforeEach(async () => {
  clock.set(TEST_START);
  for (const day of await listPartitionDays(pool)) {
    await pool.query(`drop table events_${day.replaceAll('-', '_')}`);
  }
  await pool.query(
    'truncate event_ids, event_drops, usage_days, usage_totals, rollup_marks, rollup_run, removal_clock',
  );
});

/** Runs the tasks of a process with its own metrics; all intervals are `pace` times as long. */
function openTasks(of: Context, pace: number) {
  const metrics = createMetrics({ version: 'test' });
  const runners = createAnalyticsTasks({ ...of, metrics }).map((task) => {
    const { firstRunMs = task.intervalMs, intervalMs } = task;
    const paced = { ...task, firstRunMs: firstRunMs * pace, intervalMs: intervalMs * pace };
    return new TaskRunner(paced, { log: of.log, metrics });
  });
  const start = () => runners.forEach((runner) => runner.start());
  const stop = () => Promise.all(runners.map((runner) => runner.stop()));
  return { start, stop, metrics };
}

function linesWith(text: string): number {
  return service.log.filter((line) => line.includes(text)).length;
}

async function readTotals(): Promise<unknown[]> {
  return (await pool.query('select * from usage_totals order by period, starts')).rows;
}

async function readDrops() {
  const { rows } = await pool.query(
    `select to_char(day, 'YYYY-MM-DD') as day, reason, events from event_drops order by day, reason`,
  );
  return rows;
}

async function listInstallIndexes(): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'i' and relname like 'events%install' order by relname`,
  );
  return rows.map(({ name }) => name);
}

async function storeEvent(receivedAt: string): Promise<void> {
  await pool.query(
    `with id as (
       insert into event_ids (event_id, received_at) values (gen_random_uuid(), $1) returning event_id
     )
     insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version)
     select event_id, $1, gen_random_uuid(), gen_random_uuid(), 'opened', $1, '1' from id`,
    [receivedAt],
  );
}

async function storeUse(day: string): Promise<void> {
  await pool.query(
    `insert into usage_days (machine_key, day, first_at, last_at, beats) values ($1, $2, $3, $3, 1)`,
    [randomUUID(), day, `${day}T00:00:00Z`],
  );
}

async function rollUp(): Promise<void> {
  assert.equal(await runRollups(context, { signal: idle }), 'finished');
}

test('sums the drops of all processes by day and reason', async () => {
  context.eventCounts.add(0, new Map([['name', 2]]));
  beside.context.eventCounts.add(0, new Map([['name', 3]]));
  await Promise.all([writeDrops(context), writeDrops(beside.context)]);
  context.eventCounts.add(0, new Map([['duplicate', 1]]));
  clock.advance(DAY_MS);
  context.eventCounts.add(0, new Map([['name', 7]]));
  await writeDrops(context);
  await writeDrops(context);
  assert.deepEqual(await readDrops(), [
    { day: '2027-03-01', reason: 'duplicate', events: 1 },
    { day: '2027-03-01', reason: 'name', events: 5 },
    { day: '2027-03-02', reason: 'name', events: 7 },
  ]);
});

test('writes drops at the next time after a failure', async () => {
  context.eventCounts.add(0, new Map([['name', 2]]));
  await pool.query('alter table event_drops rename to event_drops_away');
  await assert.rejects(writeDrops(context), { code: '42P01' });
  await pool.query('alter table event_drops_away rename to event_drops');
  context.eventCounts.add(0, new Map([['name', 1]]));
  await writeDrops(context);
  assert.deepEqual(await readDrops(), [{ day: '2027-03-01', reason: 'name', events: 3 }]);
});

test('the tasks create partitions, store drops, roll up and remove; the last counts are stored at the stop', async () => {
  await createPartition(pool, '2025-01-01');
  await storeUse('2027-03-01');
  context.eventCounts.add(0, new Map([['name', 2]]));
  const tasks = openTasks(context, FAST);
  const { metrics } = tasks;
  tasks.start();
  await eventually(async () => (await service.count('event_drops')) === 1);
  await eventually(async () => (await service.count('rollup_run')) === 1);
  await eventually(async () => {
    const days = await listPartitionDays(pool);
    return days.length === 8 && days[0] === '2027-03-01' && days[7] === '2027-03-08';
  });
  await eventually(async () => (await metrics.render()).includes('latchkey_rollup_age_seconds 0'));
  await tasks.stop();
  const stopped = openTasks(context, 1);
  context.eventCounts.add(0, new Map([['name', 1]]));
  await stopped.stop();
  assert.deepEqual(await readDrops(), [{ day: '2027-03-01', reason: 'name', events: 3 }]);
});

test('does not repeat a roll-up that another process has just completed', async () => {
  await storeUse('2027-03-01');
  await rollUp();
  await storeUse('2027-03-01');
  const tasks = openTasks(beside.context, FAST);
  const { metrics } = tasks;
  tasks.start();
  context.eventCounts.add(0, new Map([['name', 1]]));
  beside.context.eventCounts.add(0, new Map([['name', 1]]));
  await eventually(async () => (await service.count('event_drops')) === 1);
  await eventually(async () => (await metrics.render()).includes('latchkey_rollup_age_seconds 0'));
  assert.deepEqual(
    (await pool.query('select machines from usage_totals where period = $1', ['day'])).rows,
    [{ machines: 1 }],
  );
  clock.advance(5 * 60_000);
  await eventually(async () => {
    const { rows } = await pool.query(`select machines from usage_totals where period = 'day'`);
    return rows[0]?.machines === 2;
  });
  await tasks.stop();
});

test('drops the events of a day after 396 days, if their roll-up is final', async () => {
  for (const day of ['2026-01-28', '2026-01-29']) await createPartition(pool, day);
  await storeEvent('2026-01-28T12:00:00Z');
  await removeOldData(context, idle);
  assert.deepEqual(await listPartitionDays(pool), ['2026-01-28', '2026-01-29']);
  await rollUp();
  await removeOldData(context, idle);
  assert.deepEqual(await listPartitionDays(pool), ['2026-01-29']);
  const { rows } = await pool.query(
    `select name, events from event_name_days where day = '2026-01-28'`,
  );
  assert.deepEqual(rows, [{ name: 'opened', events: 1 }]);
});

test('drops no partition while a backup reads events, and does not block writers', async () => {
  for (const day of ['2026-01-28', '2027-03-01']) await createPartition(pool, day);
  await rollUp();
  await inTransaction(pool, async (client) => {
    await client.query('select count(*) from events');
    const removing = removeOldData(context, idle);
    const refused = assert.rejects(removing, { code: '55P03' });
    const begun = performance.now();
    await storeEvent('2027-03-01T12:00:00Z');
    assert.ok(performance.now() - begun < 4_000);
    await refused;
  });
  assert.equal((await listPartitionDays(pool)).length, 2);
  await removeOldData(context, idle);
  assert.deepEqual(await listPartitionDays(pool), ['2027-03-01']);
});

test('creates the index by install of days that are over, and of no other', async () => {
  for (const day of ['2027-02-27', '2027-02-28', '2027-03-01']) await createPartition(pool, day);
  clock.set(new Date('2027-03-01T00:59:59Z'));
  await indexPastPartitions(context, idle);
  assert.deepEqual(await listInstallIndexes(), ['events_2027_02_27_install']);
  clock.set(new Date('2027-03-01T01:00:00Z'));
  await indexPastPartitions(context, idle);
  await indexPastPartitions(beside.context, idle);
  assert.deepEqual(await listInstallIndexes(), [
    'events_2027_02_27_install',
    'events_2027_02_28_install',
  ]);
});

test('removes event ids after 90 days', async () => {
  await pool.query(
    `insert into event_ids (event_id, received_at) select gen_random_uuid(), $1 from generate_series(1, 20001)`,
    ['2026-11-30T23:59:59Z'],
  );
  await pool.query(`insert into event_ids (event_id, received_at) values (gen_random_uuid(), $1)`, [
    '2026-12-01T00:00:00Z',
  ]);
  await removeOldData(context, idle);
  assert.equal(await service.count('event_ids'), 1);
});

/** The default of a BRIN index. */
const PAGES_PER_RANGE = 128;

/** Returns the number of pages that a search for the ids from before December reads. */
async function countPagesRead(): Promise<number> {
  return inTransaction(pool, async (client) => {
    await client.query('set local enable_seqscan = off');
    const { rows } = await client.query(
      `explain (analyze, format json) select event_id from event_ids where received_at < '2026-12-01'`,
    );
    return Number(rows[0]['QUERY PLAN'][0].Plan['Lossy Heap Blocks']);
  });
}

async function storeIds(receivedAt: string, count: number): Promise<void> {
  await pool.query(
    `insert into event_ids (event_id, received_at) select gen_random_uuid(), $1 from generate_series(1, $2)`,
    [receivedAt, count],
  );
}

test('summarizes the index of event ids on Mondays', { skip: spreadsTables }, async () => {
  // The row at the end prevents truncating the pages before it.
  await storeIds('2026-11-01T00:00:00Z', 40_000);
  await storeIds('2027-02-28T00:00:00Z', 1);
  await pool.query(`delete from event_ids where received_at < '2027-01-01'`);
  await pool.query('vacuum event_ids');
  await storeIds('2027-02-28T00:00:00Z', 39_000);
  const worn = await countPagesRead();
  assert.ok(worn > PAGES_PER_RANGE, String(worn));
  const removeOne = async () => {
    await storeIds('2026-11-01T00:00:00Z', 1);
    await removeOldData(context, idle);
    assert.equal(await service.count('event_ids'), 39_001);
  };
  clock.advance(DAY_MS);
  await removeOne();
  assert.ok((await countPagesRead()) >= worn);
  clock.advance(6 * DAY_MS);
  await removeOldData(context, idle);
  assert.ok((await countPagesRead()) >= worn);
  await removeOne();
  // One range contains the removed row, which counts while another transaction may still see it.
  const left = await countPagesRead();
  assert.ok(left <= PAGES_PER_RANGE, String(left));
});

test('removes days of use after 25 whole months, if their roll-up is final, and keeps the roll-ups', async () => {
  for (const day of ['2025-01-30', '2025-01-31', '2025-02-01']) await storeUse(day);
  await removeOldData(context, idle);
  assert.equal(await service.count('usage_days'), 3);
  await rollUp();
  const before = await readTotals();
  await removeOldData(context, idle);
  assert.equal(await service.count('usage_days'), 1);
  await rollUp();
  assert.deepEqual(await readTotals(), before);
  assert.equal(before.length, 6);
});

/** Stores data of today, lets both clocks jump ahead, and stores new data and roll-ups by the wrong clock. */
async function storeAndJump(days: number): Promise<void> {
  await createPartition(pool, '2027-03-01');
  await storeEvent('2027-03-01T12:00:00Z');
  await storeUse('2027-03-01');
  await rollUp();
  await removeOldData(context, idle);
  clock.advance(days * DAY_MS);
  await storeUse(dayOf(clock.now()));
  await rollUp();
}

async function countRaw(): Promise<unknown> {
  const tables = ['events', 'event_ids', 'usage_days'];
  return Promise.all(tables.map((table) => service.count(table)));
}

test('removes nothing after the clock jumped years ahead, and logs an error each time', async () => {
  await storeAndJump(1_200);
  const event = 'removal.clock_jumped';
  const before = linesWith(event);
  await removeOldData(context, idle);
  clock.advance(HOUR_MS);
  await removeOldData(context, idle);
  assert.deepEqual(await countRaw(), [1, 1, 2]);
  assert.equal(linesWith(event), before + 2);
  clock.set(TEST_START);
  await removeOldData(context, idle);
  assert.deepEqual([await countRaw(), linesWith(event)], [[1, 1, 2], before + 2]);
});

test("removes by the database's clock when only its own clock is ahead", async () => {
  await storeAndJump(0);
  const ahead = { now: () => new Date(clock.now().getTime() + 1_200 * DAY_MS) };
  await pool.query('truncate removal_clock');
  await removeOldData({ ...context, clock: ahead }, idle);
  assert.deepEqual(await countRaw(), [1, 1, 2]);
});

test('removes old data when it has caught up after a long time without runs', async () => {
  await storeAndJump(1_200);
  const now = clock.now();
  await upsertRemovalClock(pool, {
    reachedAt: new Date(now.getTime() - 35 * DAY_MS),
    movedAt: now,
  });
  await removeOldData(context, idle);
  assert.deepEqual(await countRaw(), [0, 0, 1]);
});

test('removes in one process at a time', async () => {
  await pool.query(`insert into event_ids (event_id, received_at) values (gen_random_uuid(), $1)`, [
    '2026-01-01T00:00:00Z',
  ]);
  await inTransaction(pool, async (client) => {
    assert.notEqual(await tryLock(client, 'removal'), null);
    await removeOldData(beside.context, idle);
  });
  assert.equal(await service.count('event_ids'), 1);
  await removeOldData(beside.context, idle);
  assert.equal(await service.count('event_ids'), 0);
});
