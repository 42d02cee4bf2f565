import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';

import { codeOf, hasCode } from '#server/lib/error-code.ts';

import { DATABASE_USER } from './create-cluster.ts';
import type { EmbeddedPostgresLog } from './log.ts';
import type { SupervisedServer } from './supervisor.ts';

/** Where the embedded database takes connections, as `pg` takes it. */
export interface EmbeddedConnection {
  /** The directory of its Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

const DATABASE = 'latchkey';
const FIRST_DATABASE = 'postgres';
const POLL_INTERVAL_MS = 10;
const CONNECT_TIMEOUT_MS = 5_000;

/** Recovery after a crash takes as long as it takes: it is reported and not cut short. */
const REPORT_INTERVAL_MS = 10_000;

/** SQLSTATEs (PostgreSQL, appendix A). */
const CANNOT_CONNECT_NOW = '57P03';
const UNDEFINED_DATABASE = '3D000';
const DUPLICATE_DATABASE = '42P04';

/** The connection to the database through the socket in this directory. */
export function connectionThrough(socketDirectory: string): EmbeddedConnection {
  return { host: socketDirectory, port: 5432, user: DATABASE_USER, database: DATABASE };
}

/**
 * Waits until the server takes connections, and creates the database if it is not there yet.
 * @returns false when the server ended first
 */
export async function waitUntilReady(
  server: SupervisedServer,
  connection: EmbeddedConnection,
  log: EmbeddedPostgresLog,
): Promise<boolean> {
  let reportAt = Date.now() + REPORT_INTERVAL_MS;
  while (!server.hasEnded()) {
    const answer = await tryConnection(connection);
    if (answer === 'ready') return true;
    if (answer === 'no database') await createDatabase(connection);
    else await sleep(POLL_INTERVAL_MS);
    if (Date.now() > reportAt) {
      log.info({}, 'the database is still starting; after a crash it recovers first');
      reportAt = Date.now() + REPORT_INTERVAL_MS;
    }
  }
  return false;
}

/** What came of an attempt to connect. */
export type Attempt = 'ready' | 'not yet' | 'no database';

/** What fails for a moment only, while the server starts or stops. */
const PASSING_CODES = new Set([
  CANNOT_CONNECT_NOW,
  'ENOENT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EAGAIN',
]);

/** Connects once. Rejects only for reasons that waiting does not mend. */
export async function tryConnection(connection: EmbeddedConnection): Promise<Attempt> {
  const client = createClient(connection);
  try {
    await client.connect();
    await client.end();
    return 'ready';
  } catch (error) {
    const code = codeOf(error);
    if (code === UNDEFINED_DATABASE) return 'no database';
    // Without a code: the server closed the connection before it answered.
    if (code === undefined || PASSING_CODES.has(code)) return 'not yet';
    throw error;
  }
}

/** A client whose connection may break at any time: whoever uses it learns of that from its promises. */
function createClient(connection: EmbeddedConnection): Client {
  const client = new Client({ ...connection, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // Without a listener, a connection that breaks would end the process.
  client.on('error', () => {});
  return client;
}

async function createDatabase(connection: EmbeddedConnection): Promise<void> {
  const client = createClient({ ...connection, database: FIRST_DATABASE });
  await client.connect();
  try {
    await client.query(`create database ${DATABASE}`);
  } catch (error) {
    // Another process was faster.
    if (!hasCode(error, DUPLICATE_DATABASE)) throw error;
  } finally {
    await client.end();
  }
}
