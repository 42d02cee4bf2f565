import type { Pool } from 'pg';

import { findEmbeddedPostgres } from '#server/db/embedded/connection.ts';
import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';

/** Opens connections to the embedded database of a running service; they work again after its restart. */
export async function openDatabase(dataDirectory: string): Promise<Pool> {
  const connection = await findEmbeddedPostgres(dataDirectory);
  if (connection === null) throw new Error('the database does not run');
  return createPool(connection, { maxConnections: 2, log: createLog({ level: 'silent' }) });
}
