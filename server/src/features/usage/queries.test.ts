import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { openTestPool } from '../../../test/database-pool.ts';
import { upsertUsageDays, type MachineHeartbeats } from './queries.ts';

// One connection, so that its statistics are complete.
const pool = await openTestPool({ maxConnections: 1 });

const NOON = new Date('2027-05-01T12:00:00Z');

function heartbeatsOf(machineKey: string, appVersion = '1.0'): MachineHeartbeats {
  return { machineKey, count: 1, appVersion, osVersion: null };
}

test('updates the day of a known machine without writing an index (heap-only)', async () => {
  // While it analyzes the table, rows that were replaced still take up space in their pages.
  await pool.query('alter table usage_days set (autovacuum_enabled = false)');
  const keys = Array.from({ length: 5_000 }, () => randomUUID());
  await upsertUsageDays(
    pool,
    keys.map((key) => heartbeatsOf(key)),
    NOON,
  );
  for (let batch = 0; batch < 40; batch++) {
    const some = new Set(Array.from({ length: 128 }, () => keys[randomInt(keys.length)] ?? ''));
    const beats = [...some].map((key) => heartbeatsOf(key, `1.${batch}`));
    await upsertUsageDays(pool, beats, new Date(NOON.getTime() + batch));
  }
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ updates: number; hot: number; inserts: number }>(
    `select n_tup_upd as updates, n_tup_hot_upd as hot, n_tup_ins as inserts
     from pg_stat_user_tables where relname = 'usage_days'`,
  );
  const { updates = 0, hot = 0, inserts = 0 } = rows[0] ?? {};
  assert.equal(inserts, 5_000);
  assert.ok(updates > 4_500, `${updates} updates`);
  assert.ok(hot / updates > 0.98, `${hot} of ${updates}`);
});

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
