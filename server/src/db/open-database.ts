import type { Pool } from 'pg';

import type { Config } from '#server/config/config.ts';
import { listSecretIds, type Secrets } from '#server/config/secrets.ts';
import type { Logger } from '#server/log.ts';

import type { Account } from './embedded/account.ts';
import type { EmbeddedConnection } from './embedded/connection.ts';
import { startEmbeddedPostgres } from './embedded/start.ts';
import { openExternalDatabase } from './external-database.ts';
import { createPool, type PoolOptions } from './pool.ts';

/** An open database. */
export interface OpenDatabase {
  readonly pool: Pool;
  /** A replica for reports; null: none is configured. It may not answer. */
  readonly replica: Pool | null;
  /** The account of the embedded server if root started it, else null. */
  readonly account: Account | null;
  /** The embedded server's directory, by a path that this process can use until it ends; else null. */
  readonly directory: string | null;
  /** Closes the connections, and stops the embedded server. */
  close(): Promise<void>;
}

/**
 * Opens the database of DATABASE_URL, or starts the embedded one in the data directory.
 * @param dropsPrivileges whether this process will drop root for the returned account
 * @throws StartupError when the database cannot be used
 */
export async function openDatabase(
  config: Config,
  secrets: Secrets,
  log: Logger,
  dropsPrivileges = false,
): Promise<OpenDatabase> {
  const secretIds = listSecretIds(secrets);
  const options = { maxConnections: config.database.poolSize, log, secretIds };
  if (secrets.databaseUrl !== null) {
    // First, because it opens no connection yet.
    const replica = openReplica(secrets.replicaUrl, options);
    const pool = await openExternalDatabase(secrets.databaseUrl, options);
    const close = async (): Promise<void> => {
      await Promise.all([pool.end(), replica?.end()]);
    };
    return { pool, replica, account: null, directory: null, close };
  }
  const { dataDirectory, database } = config;
  const account = database.account ?? undefined;
  const embedded = await startEmbeddedPostgres({ dataDirectory, log, account, dropsPrivileges });
  const pool = createPool(embedded.connection, options);
  const close = async (): Promise<void> => {
    await pool.end();
    await embedded.stop();
  };
  return {
    pool,
    replica: null,
    account: embedded.account,
    directory: embedded.connection.host,
    close,
  };
}

/** Reports are few, and one reads one statement after the other. */
const REPLICA_CONNECTIONS = 4;

/** Connections to the primary, the second choice, are replaced by those to a standby that is back. */
const REPLICA_LIFETIME_S = 60;

/** Connections open when a report needs one, so that a replica that is down delays no start. */
function openReplica(url: string | null, options: PoolOptions): Pool | null {
  if (url === null) return null;
  const maxConnections = Math.min(REPLICA_CONNECTIONS, options.maxConnections);
  const limits = { maxConnections, maxLifetimeSeconds: REPLICA_LIFETIME_S };
  const connection = {
    url,
    sessionKind: 'prefer-standby',
    setting: 'LATCHKEY_REPLICA_URL',
  } as const;
  return createPool(connection, { ...options, ...limits });
}

/**
 * Connects to a database that another process of this service runs.
 * @param embedded the embedded database; null: that of DATABASE_URL
 * @throws StartupError when the database cannot be used
 */
export async function connectDatabase(
  embedded: EmbeddedConnection | null,
  { config, secrets, log }: { config: Config; secrets: Secrets; log: Logger },
): Promise<OpenDatabase> {
  if (embedded === null) return openDatabase(config, secrets, log);
  const secretIds = listSecretIds(secrets);
  const pool = createPool(embedded, { maxConnections: config.database.poolSize, log, secretIds });
  return { pool, replica: null, account: null, directory: embedded.host, close: () => pool.end() };
}
