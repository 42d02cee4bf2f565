import { Pool, types, type PoolConfig } from 'pg';
import type { Logger } from 'pino';

/** Where the database is: a URL, or the embedded one's socket directory. */
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
  /** Ids of the master secrets that this process reads, for a rotation to see; shown in `pg_stat_activity`. */
  readonly secretIds?: readonly string[];
}

/** int8: counts stay far below 2^53, so they are numbers. */
types.setTypeParser(types.builtins.INT8, Number);

/** What connections are called, before the ids of the master secrets. */
export const APPLICATION_NAME = 'latchkey';

/** How long a caller waits for a free connection before it is told that the database is unavailable. */
const CONNECT_TIMEOUT_MS = 3_000;

/** Opens a pool of connections; none is made before it is needed. */
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
    if (!pool.ending) options.log.warn({ err: error }, 'an idle database connection broke');
  });
  // The same for a connection in use, whose user learns of it from the query.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

function toPoolConfig(connection: DatabaseConnection): PoolConfig {
  return 'url' in connection ? { connectionString: connection.url } : connection;
}
