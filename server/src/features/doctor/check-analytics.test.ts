import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { createPool } from '#server/db/pool.ts';
import { createEventPartitions } from '#server/features/analytics/create-event-partitions.ts';
import { upsertRemovalClock } from '#server/features/analytics/queries/removal.ts';
import { upsertRun } from '#server/features/analytics/queries/rollup-marks.ts';
import { createLog } from '#server/log.ts';

import { openTestPool } from '../../../test/database-pool.ts';
import { createTestDatabase } from '../../../test/database.ts';
import { DAY_MS, HOUR_MS, TEST_START } from '../../../test/test-clock.ts';
import { checkEventPartitions, checkRemoval, checkRollups } from './check-analytics.ts';

const pool = await openTestPool();

test('reports missing event partitions, and a role that may not create them', async (t) => {
  const database = await createTestDatabase();
  const log = createLog({ level: 'silent' });
  const owner = createPool(database.connection, { maxConnections: 2, log });
  const role = `guest_${randomUUID().replaceAll('-', '')}`;
  const guest = createPool(
    {
      url: `${database.url}${database.url.includes('?') ? '&' : '?'}options=${encodeURIComponent(`-c role=${role}`)}`,
    },
    { maxConnections: 1, log },
  );
  t.after(async () => {
    await guest.end();
    await owner.query(`drop role if exists ${role}`);
    await owner.end();
    await database.drop();
  });
  const check = async (days: number) => {
    const { status, code, facts } = await checkEventPartitions(
      owner,
      new Date(TEST_START.getTime() + days * DAY_MS),
    );
    return [status, code, facts?.['days']];
  };
  assert.deepEqual(await check(0), ['ok', undefined, undefined]);
  await createEventPartitions(owner, TEST_START);
  assert.deepEqual(await check(6), ['ok', undefined, undefined]);
  assert.deepEqual(await check(7), ['warning', 'event_partitions.missing', ['2027-03-09']]);
  await owner.query(`create role ${role}`);
  const { status, code } = await checkEventPartitions(guest, TEST_START);
  assert.deepEqual([status, code], ['warning', 'event_partitions.not_permitted']);
  await assert.rejects(createEventPartitions(guest, new Date(TEST_START.getTime() + DAY_MS)), {
    code: '42501',
  });
});

test('reports a clock that is more than 35 days ahead of the last removal', async () => {
  const check = async (days: number) => {
    const { status, code, facts } = await checkRemoval(
      pool,
      new Date(TEST_START.getTime() + days * DAY_MS),
    );
    return [status, code, facts?.['reached_at']];
  };
  const ok = ['ok', undefined, undefined];
  assert.deepEqual(await check(0), ok);
  await upsertRemovalClock(pool, { reachedAt: TEST_START, movedAt: TEST_START });
  assert.deepEqual(await check(35), ok);
  assert.deepEqual(await check(36), ['warning', 'removal.clock_ahead', TEST_START]);
});

function hoursLater(hours: number): Date {
  return new Date(TEST_START.getTime() + hours * HOUR_MS);
}

test('reports roll-ups that are older than the data', async () => {
  const findings: unknown[] = [];
  const check = async (now: Date) => {
    const { status, code, facts } = await checkRollups(pool, now);
    findings.push([status, code, facts?.['finished_at']]);
  };
  await check(TEST_START);
  await pool.query(
    `insert into usage_days (machine_key, day, first_at, last_at, beats)
     values (gen_random_uuid(), '2027-03-01', $1, $1, 1)`,
    [TEST_START],
  );
  await check(TEST_START);
  await upsertRun(pool, { finishedAt: TEST_START, tookMs: 1 });
  await check(hoursLater(2));
  await pool.query(`insert into event_ids (event_id, received_at) values (gen_random_uuid(), $1)`, [
    hoursLater(1),
  ]);
  await check(hoursLater(0.5));
  await check(hoursLater(2));
  const ok = ['ok', undefined, undefined];
  assert.deepEqual(findings, [
    ok,
    ['warning', 'rollups.outdated', null],
    ok,
    ok,
    ['warning', 'rollups.outdated', TEST_START],
  ]);
});
