import type { Pool } from 'pg';

import { findEmbeddedPostgres } from '#server/db/embedded/connection.ts';
import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';

/** Connects to the running embedded database of a data directory. */
export async function withDatabase<Result>(
  dataDirectory: string,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const connection = await findEmbeddedPostgres(dataDirectory);
  if (connection === null) throw new Error('the database does not run');
  const pool = createPool(connection, { maxConnections: 1, log: createLog({ level: 'warn' }) });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
