import { Pool, types, type PoolConfig } from 'pg';
import type { Logger } from 'pino';

import { StartupError } from '#server/config/startup-error.ts';
import {
  parseDatabaseUrl,
  urlOfHost,
  type DatabaseUrl,
  type SessionKind,
} from '#server/config/database-url.ts';

import { examineHost, readStatus } from './hosts/examine-host.ts';
import { createFailoverClient } from './hosts/failover-client.ts';
import { HostFinder } from './hosts/host-finder.ts';
import { createLibpqClient, WITHOUT_DRIVER_TLS } from './tls/libpq-client.ts';
import { readPem } from './tls/read-pem.ts';
import { planTls, type TlsPlan } from './tls/tls-plan.ts';

/** How to connect: a URL with one host or several, or the embedded server's socket directory. */
export type DatabaseConnection =
  | {
      readonly url: string;
      /** Which of several hosts are used, unless the URL sets it. Default: those that accept writes. */
      readonly sessionKind?: SessionKind;
      /** The name of the setting with the URL, for errors. Default: DATABASE_URL. */
      readonly setting?: string;
    }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly database: string;
    };

export interface PoolOptions {
  readonly maxConnections: number;
  readonly log: Pick<Logger, 'warn'>;
  /** When a connection is replaced, also if it is used. Default: never. */
  readonly maxLifetimeSeconds?: number;
  /** Ids of the master secrets that this process reads; a rotation reads them in `pg_stat_activity`. */
  readonly secretIds?: readonly string[];
  /** How long a caller waits for a free connection before it fails as unavailable. Default: 3 s. */
  readonly connectTimeoutMs?: number;
}

/** int8 as number: counts stay far below 2^53. */
types.setTypeParser(types.builtins.INT8, Number);

/** The application name of connections, before the ids of the master secrets. */
export const APPLICATION_NAME = 'latchkey';

const CONNECT_TIMEOUT_MS = 3_000;

/** How long one of several hosts may take to accept a connection, unless the URL sets `connect_timeout`. */
const HOST_TIMEOUT_MS = 2_000;

/**
 * Creates a pool; connections open when they are needed.
 * @throws StartupError when a certificate that the URL names cannot be used
 */
export function createPool(connection: DatabaseConnection, options: PoolOptions): Pool {
  const { log, maxConnections, maxLifetimeSeconds = 0, secretIds = [] } = options;
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const config = {
    connectionTimeoutMillis: connectTimeoutMs,
    // No query_timeout: see send-query.ts.
    application_name: [APPLICATION_NAME, ...secretIds].join(' '),
  };
  const pool = new Pool({
    ...addTarget(config, connection, log),
    max: maxConnections,
    idleTimeoutMillis: 60_000,
    maxLifetimeSeconds,
  });
  // The pool replaces an idle connection that breaks; without a listener, the error would end the process.
  pool.on('error', (error) => {
    if (pool.ending) return;
    log.warn(
      { event: 'database.connection_lost', err: error },
      'an idle database connection broke',
    );
  });
  // The same for a connection in use: its query rejects.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Adds where to connect, and how: the driver reads the URL's user, password and database alone. */
function addTarget(
  config: PoolConfig,
  connection: DatabaseConnection,
  log: PoolOptions['log'],
): PoolConfig {
  if (!('url' in connection)) return { ...config, ...connection, ...WITHOUT_DRIVER_TLS };
  const parsed = parseDatabaseUrl(connection.url);
  const { setting = 'DATABASE_URL' } = connection;
  if ('must' in parsed) throw new StartupError([`${setting} must ${parsed.must}.`]);
  const { hosts, sessionKind, connectTimeoutMs, driver } = parsed.value;
  const [first] = hosts;
  const isSingle = first !== undefined && hosts.length === 1 && sessionKind === null;
  const url = isSingle ? urlOfHost({ shared: driver }, first) : driver;
  const own = { ...config, connectionString: url };
  const LibpqClient = createLibpqClient(planFor(parsed.value, setting), own);
  if (isSingle) return { ...own, Client: LibpqClient };
  const timeoutMs = connectTimeoutMs ?? HOST_TIMEOUT_MS;
  const kind = sessionKind ?? connection.sessionKind ?? 'read-write';
  const limits = { ...own, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
  const finder = new HostFinder({
    hosts,
    kind,
    examine: (host) =>
      examineHost(new LibpqClient(limits), host, (client) => readStatus(client, kind)),
  });
  return { ...own, Client: createFailoverClient(finder, log, { own, LibpqClient }) };
}

/** Sockets of this machine are never encrypted, and need no certificates. */
function planFor({ hosts, tls }: DatabaseUrl, setting: string): TlsPlan {
  const isLocal = hosts.every(({ host }) => host.startsWith('/'));
  return planTls(isLocal ? { ...tls, mode: 'disable' } : tls, readPem, setting);
}

/**
 * Reads the certificates that a URL names, as a pool does.
 * @throws StartupError when one cannot be used
 */
export function checkCertificates(url: string, setting: string): void {
  const parsed = parseDatabaseUrl(url);
  if ('value' in parsed) planFor(parsed.value, setting);
}
