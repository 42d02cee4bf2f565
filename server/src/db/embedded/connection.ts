import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';

import { clusterDirectory } from '#server/config/data-directory.ts';
import { codeOf, hasCode } from '#server/lib/unknown-values.ts';

import { WITHOUT_DRIVER_TLS } from '../tls/libpq-client.ts';
import { DATABASE_USER } from './cluster.ts';
import { openDirectory } from './open-directory.ts';
import type { EmbeddedPostgresLog } from './server-log.ts';
import type { SupervisedServer } from './supervisor.ts';

/** How to connect to the embedded database, as options of `pg`. */
export interface EmbeddedConnection {
  /** The directory of the server's Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** The port of a service's server, which is only a part of the socket's name. */
export const SERVICE_PORT = 5432;

const DATABASE = 'latchkey';
const FIRST_DATABASE = 'postgres';
const POLL_INTERVAL_MS = 10;
const CONNECT_TIMEOUT_MS = 5_000;

/** Recovery after a crash may be slow: it is logged and has no timeout. */
const REPORT_INTERVAL_MS = 10_000;

/** SQLSTATEs (PostgreSQL, appendix A). */
const CANNOT_CONNECT_NOW = '57P03';
const UNDEFINED_DATABASE = '3D000';
const DUPLICATE_DATABASE = '42P04';

/** Returns the connection to the database of a data directory. */
export function connectionTo(dataDirectory: string, port = SERVICE_PORT): EmbeddedConnection {
  const host = clusterDirectory(dataDirectory);
  return { host, port, user: DATABASE_USER, database: DATABASE };
}

/**
 * Finds the database of a service that runs on a data directory, for a command to use.
 * @returns null when no service runs there, or its database is not ready
 */
export async function findEmbeddedPostgres(
  dataDirectory: string,
): Promise<EmbeddedConnection | null> {
  try {
    // Not closed: the connection may be used until this process ends.
    const connection = connectionTo(openDirectory(resolve(dataDirectory)).path);
    return (await tryConnection(connection)) === 'ready' ? connection : null;
  } catch (error) {
    // Another account's database: starting a server on it reports that.
    if (hasCode(error, 'EACCES') || hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/**
 * Waits until the server accepts connections, and creates the database if it does not exist.
 * @returns false when the server ended first
 */
export async function waitUntilReady(
  server: SupervisedServer,
  connection: EmbeddedConnection,
  log: EmbeddedPostgresLog,
): Promise<boolean> {
  let reportAt = Date.now() + REPORT_INTERVAL_MS;
  while (!server.hasEnded()) {
    const outcome = await tryConnection(connection);
    if (outcome === 'ready') return true;
    if (outcome === 'no database') await createDatabase(connection);
    else await sleep(POLL_INTERVAL_MS);
    if (Date.now() > reportAt) {
      const fields = { event: 'postgres.still_starting' };
      log.info(fields, 'the database is still starting; after a crash it recovers first');
      reportAt = Date.now() + REPORT_INTERVAL_MS;
    }
  }
  return false;
}

/** Error codes while the server starts or stops. */
const TRANSIENT_CODES = new Set([
  CANNOT_CONNECT_NOW,
  'ENOENT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EAGAIN',
]);

/** Connects once. Rejects with errors that a retry does not resolve. */
async function tryConnection(
  connection: EmbeddedConnection,
): Promise<'ready' | 'not yet' | 'no database'> {
  const client = createClient(connection);
  try {
    await client.connect();
    await client.end();
    return 'ready';
  } catch (error) {
    const code = codeOf(error);
    if (code === UNDEFINED_DATABASE) return 'no database';
    // Without a code: the server closed the connection before it answered.
    if (code === undefined || TRANSIENT_CODES.has(code)) return 'not yet';
    throw error;
  }
}

function createClient(connection: EmbeddedConnection): Client {
  const limits = { connectionTimeoutMillis: CONNECT_TIMEOUT_MS };
  const client = new Client({ ...connection, ...WITHOUT_DRIVER_TLS, ...limits });
  // Without a listener, a broken connection would end the process; the client's promises reject too.
  client.on('error', () => {});
  return client;
}

async function createDatabase(connection: EmbeddedConnection): Promise<void> {
  const client = createClient({ ...connection, database: FIRST_DATABASE });
  await client.connect();
  try {
    await client.query(`create database ${DATABASE}`);
  } catch (error) {
    // Another process created it.
    if (!hasCode(error, DUPLICATE_DATABASE)) throw error;
  } finally {
    await client.end();
  }
}
