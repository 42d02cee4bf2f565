import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Client } from 'pg';

import type { Account } from '#server/db/embedded/account.ts';
import type { EmbeddedPostgresLog } from '#server/db/embedded/server-log.ts';
import type { EmbeddedConnection } from '#server/db/embedded/connection.ts';
import { startEmbeddedPostgres } from '#server/db/embedded/start.ts';

const run = promisify(execFile);

const holder = fileURLToPath(new URL('./run-embedded-postgres.ts', import.meta.url));

/** Creates a log that records its messages. */
export function createRecordingLog(): EmbeddedPostgresLog & { readonly messages: string[] } {
  const messages: string[] = [];
  const record = (_details: object, message: string): void => void messages.push(message);
  return { messages, info: record, warn: record, error: record };
}

/** Creates a stopped cluster in a data directory. */
export async function createCluster(dataDirectory: string): Promise<void> {
  const log = createRecordingLog();
  const postgres = await startEmbeddedPostgres({ dataDirectory, durable: false, log });
  await postgres.stop();
}

/** Copies a stopped cluster with owners and modes, which is several times as fast as creating one. */
export async function copyCluster(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await run('cp', ['-a', join(from, 'postgres'), to]);
}

/** Runs one statement on a new connection and returns its rows. */
export async function queryOnce(
  connection: EmbeddedConnection,
  sql: string,
): Promise<Record<string, unknown>[]> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 2_000 });
  // Without a listener, a broken connection would end the test file; the query rejects too.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Starts a process that runs the database of a data directory, and waits until the database is ready. */
export async function startDatabaseProcess(
  dataDirectory: string,
  account?: Account,
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [holder, dataDirectory], {
    ...account,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

/** Lists the processes that work in a directory, as PostgreSQL's do in their cluster's. Linux only. */
export async function listProcessesIn(directory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const processes = await Promise.all(
    // A process may end while it is inspected, and some may not be inspected.
    pids.map(async (pid) => ({ pid, cwd: await readlink(`/proc/${pid}/cwd`).catch(() => null) })),
  );
  return processes.filter(({ cwd }) => cwd === directory).map(({ pid }) => Number(pid));
}

/** Removes a directory that a process may still be writing to. */
export function removeDirectory(directory: string): Promise<void> {
  return rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
