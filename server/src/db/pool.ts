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
}

/** int8: counts stay far below 2^53, so they are numbers. */
types.setTypeParser(types.builtins.INT8, Number);

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
    application_name: 'latchkey',
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
