import assert from 'node:assert/strict';
import { test } from 'node:test';

import { upsertRemovalClock } from '#server/features/analytics/queries/removal.ts';

import { openTestPool } from '../../../test/database-pool.ts';
import { DAY_MS, TEST_START } from '../../../test/test-clock.ts';
import { checkRemoval } from './check-analytics.ts';

const pool = await openTestPool();

test('a clock that is more than 35 days ahead of what was removed by is told of', async () => {
  const check = async (days: number) => {
    const { status, symptom, cause } = await checkRemoval(
      pool,
      new Date(TEST_START.getTime() + days * DAY_MS),
    );
    return [status, cause ?? symptom];
  };
  assert.deepEqual(await check(0), ['ok', 'Nothing was removed yet.']);
  await upsertRemovalClock(pool, { reachedAt: TEST_START, movedAt: TEST_START });
  assert.deepEqual(await check(35), ['ok', 'What is old is counted from 2027-03-01 12:00 UTC.']);
  assert.deepEqual(await check(36), [
    'warning',
    "This machine's clock says 2027-04-06 12:00 UTC, and removal had come to 2027-03-01 12:00 UTC.",
  ]);
});
