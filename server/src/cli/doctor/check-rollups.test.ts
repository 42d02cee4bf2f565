import assert from 'node:assert/strict';
import { test } from 'node:test';

import { upsertRun } from '#server/features/analytics/queries/rollup-marks.ts';

import { openTestPool } from '../../../test/database-pool.ts';
import { HOUR_MS, TEST_START } from '../../../test/test-clock.ts';
import { checkRollups } from './check-analytics.ts';

const pool = await openTestPool();

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
