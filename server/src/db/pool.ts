import { Pool, types, type PoolConfig } from 'pg';
import type { Logger } from 'pino';

/** How to connect: a URL, or the embedded server's socket directory. */
export type DatabaseConnection =
  | { readonly url: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly database: string;
    };

export interface PoolOptions {
  readonly maxConnections: number;
  readonly log: Pick<Logger, 'warn'>;
  /** Ids of the master secrets that this process reads; a rotation reads them in `pg_stat_activity`. */
  readonly secretIds?: readonly string[];
}

/** int8 as number: counts stay far below 2^53. */
types.setTypeParser(types.builtins.INT8, Number);

/** The application name of connections, before the ids of the master secrets. */
export const APPLICATION_NAME = 'latchkey';

/** How long a caller waits for a free connection before it fails as unavailable. */
const CONNECT_TIMEOUT_MS = 3_000;

/** Creates a pool; connections open when they are needed. */
export function createPool(connection: DatabaseConnection, options: PoolOptions): Pool {
  const pool = new Pool({
    ...toPoolConfig(connection),
    max: options.maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // No query_timeout: see send-query.ts.
    idleTimeoutMillis: 60_000,
    application_name: [APPLICATION_NAME, ...(options.secretIds ?? [])].join(' '),
  });
  // The pool replaces an idle connection that breaks; without a listener, the error would end the process.
  pool.on('error', (error) => {
    if (pool.ending) return;
    options.log.warn(
      { event: 'database.connection_lost', err: error },
      'an idle database connection broke',
    );
  });
  // The same for a connection in use: its query rejects.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

function toPoolConfig(connection: DatabaseConnection): PoolConfig {
  return 'url' in connection ? { connectionString: connection.url } : connection;
}
