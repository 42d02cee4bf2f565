import assert from 'node:assert/strict';
import { test } from 'node:test';

import { upsertRemovalClock } from '#server/features/analytics/queries/removal.ts';

import { openTestPool } from '../../../test/database-pool.ts';
import { DAY_MS, TEST_START } from '../../../test/test-clock.ts';
import { checkRemoval } from './check-analytics.ts';

const pool = await openTestPool();

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
