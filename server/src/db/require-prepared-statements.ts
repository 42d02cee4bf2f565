import { DatabaseError, type Pool, type PoolClient } from 'pg';

import { StartupError } from '#server/config/startup-error.ts';

import { isConnectionFailure } from './database-errors.ts';
import { sendQuery } from './send-query.ts';
import { inTransaction } from './transaction.ts';

/** Prepared by name, as every statement of ours is. */
const PROBE = { name: 'pooler_probe', text: 'select pg_backend_pid() as process_id' };

/** A statement that is not there, and one that another connection has prepared (PostgreSQL, appendix A). */
const FORGOTTEN_SQLSTATES = new Set(['26000', '42P05']);

/**
 * Makes sure that what a connection has prepared stays prepared. Through a pooler that gives it another session for each
 * transaction and does not prepare there what is missing, statements fail now and then, long after a start that went well.
 * Nothing is proved where the pooler has only one session to give.
 * @throws StartupError when the pooler behind DATABASE_URL is one of those
 */
export async function requirePreparedStatements(pool: Pool): Promise<void> {
  try {
    await probe(pool);
  } catch (error) {
    if (error instanceof DatabaseError && FORGOTTEN_SQLSTATES.has(error.code ?? '')) {
      const sentence =
        'DATABASE_URL leads to a pooler that forgets prepared statements between transactions: take PgBouncer 1.21 or newer with max_prepared_statements above 0, or pool_mode = session, or connect to PostgreSQL itself.';
      throw new StartupError([sentence], { cause: error });
    }
    if (!isConnectionFailure(error)) throw error;
  }
}

/** Runs the same statement twice on a connection, the second time while another one holds the session of the first. */
async function probe(pool: Pool): Promise<void> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    if (!(await isDirect(client))) await inTransaction(pool, () => sendQuery(client, PROBE));
    isBroken = false;
  } finally {
    client.release(isBroken);
  }
}

/** A pooler tells a connection a process id of its own making, and not that of the session. */
async function isDirect(client: PoolClient): Promise<boolean> {
  const { rows } = await sendQuery(client, PROBE);
  return rows[0]?.['process_id'] === Reflect.get(client, 'processID');
}
