import { DatabaseError, type Pool, type PoolClient } from 'pg';

import { RemedyError, StartupError } from '#server/config/startup-error.ts';

import { isConnectionFailure, isTlsError } from './database-errors.ts';
import { isWorker } from './distribution.ts';
import { explainDatabaseFailure } from './explain-failure.ts';
import { createPool, type PoolOptions } from './pool.ts';
import { sendQuery } from './send-query.ts';
import { inTransaction } from './transaction.ts';

/** The database may still be starting. */
const CONNECT_TIMEOUT_MS = 5_000;
const RETRY_INTERVAL_MS = 250;

/** The oldest supported PostgreSQL, in the form of `server_version_num`. */
const MIN_VERSION = 150_000;

/**
 * Opens the database of DATABASE_URL: waits until it accepts connections, and checks its version, its pooler, and that it is
 * no worker of Citus.
 * @throws StartupError with one sentence when it cannot be used
 */
export async function openExternalDatabase(url: string, options: PoolOptions): Promise<Pool> {
  const pool = createPool({ url }, options);
  try {
    await waitForSupportedVersion(pool);
    await requirePreparedStatements(pool);
    await requireCoordinator(pool);
    return pool;
  } catch (error) {
    // An idle connection would keep the process running for a minute.
    await pool.end();
    throw error;
  }
}

async function waitForSupportedVersion(pool: Pool): Promise<void> {
  const deadline = performance.now() + CONNECT_TIMEOUT_MS;
  for (;;) {
    try {
      return await checkVersion(pool);
    } catch (error) {
      if (error instanceof StartupError) throw error;
      // A rejected password or certificate, for example, is final.
      const mayPass = isConnectionFailure(error) && !isTlsError(error);
      if (!mayPass || performance.now() > deadline) throw unusable(error);
      await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
    }
  }
}

async function checkVersion(pool: Pool): Promise<void> {
  const { rows } = await sendQuery(pool, { text: 'show server_version_num' });
  const version = Number(rows[0]?.['server_version_num']);
  if (version >= MIN_VERSION) return;
  const problem = `The database is PostgreSQL ${Math.floor(version / 10_000)}, and version 15 or newer is needed`;
  throw new RemedyError({ problem, fix: 'upgrade the server' });
}

function unusable(error: unknown): StartupError {
  const { problem, fix } = explainDatabaseFailure(error);
  const sentence = `The database of DATABASE_URL cannot be used (${problem})`;
  return new RemedyError({ problem: sentence, fix }, { cause: error });
}

/** A worker would accept connections, but has no local tables, and its advisory locks apply to itself alone. */
async function requireCoordinator(pool: Pool): Promise<void> {
  if (!(await isWorker(pool))) return;
  throw new RemedyError({
    problem: 'DATABASE_URL leads to a worker of a Citus cluster',
    fix: 'set it to the URL of the coordinator',
  });
}

/** A prepared statement, as all statements of the service are. */
const PROBE = { name: 'pooler_probe', text: 'select pg_backend_pid() as process_id' };

const LACKS_PREPARED_STATEMENTS = {
  problem:
    'DATABASE_URL leads to a pooler that does not keep prepared statements between transactions',
  fix: 'use PgBouncer 1.21 or newer with max_prepared_statements above 0, or pool_mode = session, or connect to PostgreSQL itself',
};

/**
 * SQLSTATEs of a missing prepared statement and of one that another connection has prepared (PostgreSQL, appendix A).
 */
const UNPREPARED_SQLSTATES = new Set(['26000', '42P05']);

/**
 * Checks that prepared statements survive between transactions. Behind a pooler that assigns a server connection per
 * transaction and does not track prepared statements, statements would fail at random long after the start. The check
 * proves nothing if the pooler has only one server connection.
 */
async function requirePreparedStatements(pool: Pool): Promise<void> {
  try {
    await probe(pool);
  } catch (error) {
    if (error instanceof DatabaseError && UNPREPARED_SQLSTATES.has(error.code ?? '')) {
      throw new RemedyError(LACKS_PREPARED_STATEMENTS, { cause: error });
    }
    if (!isConnectionFailure(error)) throw error;
  }
}

/**
 * Runs the statement twice on a connection, the second time while another connection uses the first server connection.
 */
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

/** Whether the pool is connected to PostgreSQL itself, not to a pooler. */
export async function isDirectConnection(pool: Pool): Promise<boolean> {
  const client = await pool.connect();
  try {
    return await isDirect(client);
  } finally {
    client.release();
  }
}

/** A pooler reports a process id of its own instead of the server's. */
async function isDirect(client: PoolClient): Promise<boolean> {
  const { rows } = await sendQuery(client, PROBE);
  return rows[0]?.['process_id'] === Reflect.get(client, 'processID');
}
