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

test('roll-ups that stand still while something comes in are told of; otherwise they are as old as they may be', async () => {
  const symptoms: unknown[] = [];
  const check = async (now: Date) => {
    const { status, symptom, cause } = await checkRollups(pool, now);
    symptoms.push([status, cause ?? symptom]);
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
  assert.deepEqual(symptoms, [
    ['ok', 'Nothing to report yet.'],
    ['warning', 'Usage and events have never been rolled up.'],
    ['ok', 'Of 2027-03-01 12:00 UTC.'],
    ['ok', 'Of 2027-03-01 12:00 UTC.'],
    ['warning', 'Usage and events were last rolled up at 2027-03-01 12:00 UTC.'],
  ]);
});
