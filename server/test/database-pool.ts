import { after } from 'node:test';

import type { Pool } from 'pg';

import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';

import { createTestDatabase, TEST_CONNECT_TIMEOUT_MS } from './database.ts';

/** Opens a pool on a migrated database for one test file; both end with the file. */
export async function openTestPool({ maxConnections = 4 } = {}): Promise<Pool> {
  const database = await createTestDatabase();
  const log = createLog({ level: 'silent' });
  const pool = createPool(database.connection, {
    maxConnections,
    log,
    connectTimeoutMs: TEST_CONNECT_TIMEOUT_MS,
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });
  return pool;
}
