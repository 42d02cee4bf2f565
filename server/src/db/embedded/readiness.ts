import { setTimeout as sleep } from 'node:timers/promises';

import { Client, DatabaseError } from 'pg';

import { DATABASE_USER } from './cluster.ts';
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

/** A recovery after a crash takes as long as it takes: it is reported, and not cut short. */
const REPORT_INTERVAL_MS = 10_000;

/** SQLSTATEs (PostgreSQL, appendix A). */
const CANNOT_CONNECT_NOW = '57P03';
const UNDEFINED_DATABASE = '3D000';
const DUPLICATE_DATABASE = '42P04';

/** The connection to the database by the socket in this directory. */
export function connectionThrough(socketDirectory: string): EmbeddedConnection {
  return { host: socketDirectory, port: 5432, user: DATABASE_USER, database: DATABASE };
}

/**
 * Waits until the server takes connections, and makes the database when it is not there yet.
 * @returns false when the server ended before
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

/** Connects once. Rejects only for reasons that waiting does not mend. */
export async function tryConnection(connection: EmbeddedConnection): Promise<Attempt> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {
    // A connection that breaks while it is closed again; the next attempt tells more.
  });
  try {
    await client.connect();
    await client.end();
    return 'ready';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === UNDEFINED_DATABASE) return 'no database';
    // Without a code: the server closed the connection before it answered.
    const passing = [
      undefined,
      CANNOT_CONNECT_NOW,
      'ENOENT',
      'ECONNREFUSED',
      'ECONNRESET',
      'EPIPE',
      'EAGAIN',
    ];
    if (passing.includes(typeof code === 'string' ? code : undefined)) return 'not yet';
    throw error;
  }
}

async function createDatabase(connection: EmbeddedConnection): Promise<void> {
  const client = new Client({ ...connection, database: FIRST_DATABASE });
  await client.connect();
  try {
    await client.query(`create database ${DATABASE}`);
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === DUPLICATE_DATABASE)) throw error;
  } finally {
    await client.end();
  }
}
