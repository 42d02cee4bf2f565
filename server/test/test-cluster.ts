import { randomUUID } from 'node:crypto';
import { chmod } from 'node:fs/promises';

import { Client } from 'pg';

import { startEmbeddedPostgres } from '#server/db/embedded/start.ts';
import { migrate } from '#server/db/migrate.ts';
import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';

/** Passes the cluster and its template to the test files. */
export const TEST_CLUSTER_VARIABLE = 'LATCHKEY_TEST_CLUSTER';

/** The URL of an external server for the tests, whose user may create databases. */
const EXTERNAL_SERVER_VARIABLE = 'LATCHKEY_TEST_DATABASE_URL';

/** A server with a migrated database as template. */
export interface TestCluster extends AsyncDisposable {
  /** The server, with a database that always exists. */
  readonly url: string;
  /** The migrated database. It allows no connections, so that copying it never waits. */
  readonly template: string;
  /** Both as the value of TEST_CLUSTER_VARIABLE. */
  readonly asVariable: string;
}

const log = createLog({
  level: 'warn',
  destination: { write: (line) => void process.stderr.write(line) },
});

/**
 * Starts a PostgreSQL for tests, which never syncs the disk, and migrates a template database.
 * @param directory for its data; the caller removes it
 */
export async function openTestCluster(directory: string): Promise<TestCluster> {
  await using resources = new AsyncDisposableStack();
  const external = process.env[EXTERNAL_SERVER_VARIABLE];
  let url = external;
  if (url === undefined) {
    const embedded = await startEmbeddedPostgres({
      dataDirectory: directory,
      durable: false,
      log,
    });
    resources.defer(() => embedded.stop());
    // Services that dropped root reach the socket through this directory.
    await chmod(directory, 0o711);
    const { user, host, port, database } = embedded.connection;
    url = `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  }
  const server = url;
  const template = `latchkey_template_${randomUUID().replaceAll('-', '')}`;
  await execute(server, `create database ${template}`);
  if (external !== undefined) resources.defer(() => dropTemplate(server, template));
  await migrateDatabase(withDatabase(server, template));
  await execute(server, `alter database ${template} with allow_connections false is_template true`);

  const kept = resources.move();
  return {
    url,
    template,
    asVariable: `${template} ${url}`,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function dropTemplate(server: string, template: string): Promise<void> {
  await execute(server, `alter database ${template} with is_template false`);
  await execute(server, `drop database ${template}`);
}

async function migrateDatabase(url: string): Promise<void> {
  const pool = createPool({ url }, { maxConnections: 1, log });
  try {
    await migrate(pool);
  } finally {
    await pool.end();
  }
}

/** Replaces the database in a URL. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** Runs one statement on a new connection. */
export async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  // Without a listener, a broken connection would end the test file; the query rejects too.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
