import type { Pool } from 'pg';

import type { Config } from '#server/config/config.ts';
import { listSecretIds, type Secrets } from '#server/config/secrets.ts';
import type { Logger } from '#server/log.ts';

import { startEmbeddedPostgres } from './embedded/start.ts';
import type { Account } from './embedded/system-accounts.ts';
import { createPool } from './pool.ts';
import { requirePreparedStatements } from './require-prepared-statements.ts';
import { waitForDatabase } from './wait-for-database.ts';

/** A database in use, and how to let it go. */
export interface OpenDatabase {
  readonly pool: Pool;
  /** The account of the embedded server when root started it, else null. */
  readonly account: Account | null;
  /** Where the embedded server keeps its data, by a path that this process can use as long as it runs; else null. */
  readonly directory: string | null;
  /** Ends the connections, and the embedded server with them. */
  close(): Promise<void>;
}

const EXTERNAL_PATIENCE_MS = 5_000;

/**
 * Opens the database of DATABASE_URL, or starts the embedded one in the data directory.
 * @param givesUpRoot whether this process will run as the returned account
 * @throws StartupError when it cannot be used
 */
export async function openDatabase(
  config: Config,
  secrets: Secrets,
  log: Logger,
  givesUpRoot = false,
): Promise<OpenDatabase> {
  const secretIds = listSecretIds(secrets);
  const options = { maxConnections: config.database.poolSize, log, secretIds };
  if (secrets.databaseUrl !== null) {
    const pool = createPool({ url: secrets.databaseUrl }, options);
    try {
      await waitForDatabase(pool, EXTERNAL_PATIENCE_MS);
      await requirePreparedStatements(pool);
    } catch (error) {
      // An idle connection would keep the process for a minute.
      await pool.end();
      throw error;
    }
    return { pool, account: null, directory: null, close: () => pool.end() };
  }
  const { dataDirectory, database } = config;
  const account = database.account ?? undefined;
  const embedded = await startEmbeddedPostgres({ dataDirectory, log, account, givesUpRoot });
  const pool = createPool(embedded.connection, options);
  const close = async (): Promise<void> => {
    await pool.end();
    await embedded.stop();
  };
  return { pool, account: embedded.account, directory: embedded.connection.host, close };
}
