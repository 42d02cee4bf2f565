import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openTestPool } from '../../../../test/database-pool.ts';
import { withArchiveLock } from './archive-lock.ts';

const pool = await openTestPool();
pool.on('connect', (client) => void client.query('set idle_in_transaction_session_timeout = 100'));

const deps = { pool, archive: { removeLeftovers: async () => undefined } };

test('stays locked while the database ends idle transactions', async () => {
  await withArchiveLock(deps, async (lock) => {
    const other = await pool.connect();
    await other.query('begin');
    // `once` of node:events would reject at the error that comes before.
    await new Promise((resolve) => other.once('end', resolve));
    other.release(true);
    await lock.requireHeld();
  });
});

test('returns the result of work after which its connection is lost', async () => {
  const result = await withArchiveLock(deps, async () => {
    const ended = await pool.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = current_database() and state like 'idle in transaction%'`,
    );
    return ended.rowCount;
  });
  assert.equal(result, 1);
});
