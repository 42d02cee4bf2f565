import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { openTestPool } from '../../../test/database-pool.ts';
import { eventually } from '../../../test/eventually.ts';
import { spreadsTables } from '../../../test/test-cluster.ts';
import { upsertUsageDays, type MachineHeartbeats } from './queries.ts';

// One connection, so that its statistics are complete.
const pool = await openTestPool({ maxConnections: 1 });

const NOON = new Date('2027-05-01T12:00:00Z');

function heartbeatsOf(machineKey: string, appVersion = '1.0'): MachineHeartbeats {
  return { machineKey, count: 1, appVersion, osVersion: null };
}

test(
  'updates the day of a known machine without writing an index (heap-only)',
  { skip: spreadsTables },
  async () => {
    const keys = Array.from({ length: 5_000 }, () => randomUUID());
    await upsertUsageDays(
      pool,
      keys.map((key) => heartbeatsOf(key)),
      NOON,
    );
    // While autovacuum analyzes a table of the database, replaced rows still take up space in their pages.
    await eventually(async () => (await measureHeapOnly(keys)) > 0.98);
  },
);

/** Updates days, and returns the share of the updates that wrote no index. */
async function measureHeapOnly(keys: readonly string[]): Promise<number> {
  const before = await countUpdates();
  for (let batch = 0; batch < 40; batch++) {
    const some = new Set(Array.from({ length: 128 }, () => keys[randomInt(keys.length)] ?? ''));
    const beats = [...some].map((key) => heartbeatsOf(key, `1.${batch}`));
    await upsertUsageDays(pool, beats, new Date(NOON.getTime() + batch));
  }
  const { updates, hot } = await countUpdates();
  assert.ok(updates - before.updates > 4_500, `${updates - before.updates} updates`);
  return (hot - before.hot) / (updates - before.updates);
}

async function countUpdates(): Promise<{ readonly updates: number; readonly hot: number }> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ updates: number; hot: number }>(
    `select n_tup_upd as updates, n_tup_hot_upd as hot
     from pg_stat_user_tables where relname = 'usage_days'`,
  );
  return rows[0] ?? { updates: 0, hot: 0 };
}

test('returns the heartbeats of each machine on the day', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  await upsertUsageDays(pool, [heartbeatsOf(one)], NOON);
  const totals = await upsertUsageDays(
    pool,
    [heartbeatsOf(two), { ...heartbeatsOf(one), count: 3 }],
    NOON,
  );
  assert.deepEqual([totals.get(one), totals.get(two)], [4, 1]);
});
