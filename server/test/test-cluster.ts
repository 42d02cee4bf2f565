import { randomUUID } from 'node:crypto';
import { chmod } from 'node:fs/promises';

import { Client } from 'pg';

import { startEmbeddedPostgres } from '#server/db/embedded/start.ts';
import { migrate } from '#server/db/migrate.ts';
import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';

/** Names the cluster and its template to the test files that run on it. */
export const TEST_CLUSTER_VARIABLE = 'LATCHKEY_TEST_CLUSTER';

/** Names a server of your own for the tests: a URL whose user may create databases. */
const OWN_SERVER_VARIABLE = 'LATCHKEY_TEST_DATABASE_URL';

/** A server with a migrated database to copy. */
export interface TestCluster extends AsyncDisposable {
  /** The server, by a database that is always there. */
  readonly url: string;
  /** The migrated database; nobody can connect to it, so copying never has to wait. */
  readonly template: string;
  /** Both as the value of TEST_CLUSTER_VARIABLE. */
  readonly asVariable: string;
}

const log = createLog({
  level: 'warn',
  destination: { write: (line) => void process.stderr.write(line) },
});

/**
 * Starts a PostgreSQL for tests, which does not wait for the disk, and migrates a template in it.
 * @param directory where its data goes; it is left to the caller
 */
export async function openTestCluster(directory: string): Promise<TestCluster> {
  await using resources = new AsyncDisposableStack();
  const own = process.env[OWN_SERVER_VARIABLE];
  let url = own;
  if (url === undefined) {
    const embedded = await startEmbeddedPostgres({
      dataDirectory: directory,
      durable: false,
      log,
    });
    resources.defer(() => embedded.stop());
    // Services that gave up root pass through to the socket.
    await chmod(directory, 0o711);
    const { user, host, port, database } = embedded.connection;
    url = `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  }
  const server = url;
  const template = `latchkey_template_${randomUUID().replaceAll('-', '')}`;
  await execute(server, `create database ${template}`);
  if (own !== undefined) resources.defer(() => dropTemplate(server, template));
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

/** The same server, another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** Runs one statement on a connection of its own. */
export async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  // A connection that breaks is told by the query; without a listener it would end the test file.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
