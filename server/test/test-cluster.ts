import { randomUUID } from 'node:crypto';
import { chmod } from 'node:fs/promises';

import { Client } from 'pg';

import { startEmbeddedPostgres } from '#server/db/embedded/start.ts';
import { migrate } from '#server/db/migrate.ts';
import { createPool } from '#server/db/pool.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { listTablesToSpread } from '#server/features/spread/rules/layout.ts';
import { distributeTables } from '#server/features/spread/spread.ts';
import { createLog } from '#server/log.ts';

/** Passes the cluster and its template to the test files. */
export const TEST_CLUSTER_VARIABLE = 'LATCHKEY_TEST_CLUSTER';

/** The URL of an external server for the tests, whose user may create databases. */
const EXTERNAL_SERVER_VARIABLE = 'LATCHKEY_TEST_DATABASE_URL';

/** `events` or `usage`: runs the tests on a Citus cluster over which these tables are spread. */
export const LAYOUT_VARIABLE = 'LATCHKEY_TEST_LAYOUT';

/** Why tests of one server's pages and schemas are skipped; false on one server. */
export const spreadsTables =
  process.env[LAYOUT_VARIABLE] === undefined ? false : 'needs a database on one server';

/** A server with a migrated database as template. */
export interface TestCluster extends AsyncDisposable {
  /** The server, with a database that always exists; on Citus the coordinator, and then its workers. */
  readonly urls: readonly string[];
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
  const layout = process.env[LAYOUT_VARIABLE];
  const { urls, isExternal, createDatabase } =
    layout === undefined
      ? await openServer(directory, resources)
      : await openCitus(directory, resources);
  const template = `latchkey_template_${randomUUID().replaceAll('-', '')}`;
  const url = await createDatabase(template);
  if (isExternal) resources.defer(() => eachServer(urls, (each) => dropTemplate(each, template)));
  await migrateDatabase(url, layout);
  await eachServer(urls, async (each) => {
    await execute(each, `alter database ${template} with allow_connections false is_template true`);
    // Citus has a process in each database.
    await execute(
      each,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${template}'`,
    );
  });

  const kept = resources.move();
  return {
    urls,
    template,
    asVariable: [template, ...urls].join(' '),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

interface Servers {
  readonly urls: readonly string[];
  readonly isExternal: boolean;
  /** Returns the URL of an empty database. */
  readonly createDatabase: (name: string) => Promise<string>;
}

async function openServer(directory: string, resources: AsyncDisposableStack): Promise<Servers> {
  const external = process.env[EXTERNAL_SERVER_VARIABLE];
  const url = external ?? (await startEmbedded(directory, resources));
  const createDatabase = async (name: string): Promise<string> => {
    await execute(url, `create database ${name}`);
    return withDatabase(url, name);
  };
  return { urls: [url], isExternal: external !== undefined, createDatabase };
}

async function startEmbedded(directory: string, resources: AsyncDisposableStack): Promise<string> {
  const embedded = await startEmbeddedPostgres({ dataDirectory: directory, durable: false, log });
  resources.defer(() => embedded.stop());
  // Services that dropped root reach the socket through this directory.
  await chmod(directory, 0o711);
  const { user, host, port, database } = embedded.connection;
  return `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}

async function openCitus(directory: string, resources: AsyncDisposableStack): Promise<Servers> {
  const { startCitusCluster } = await import('./citus-cluster.ts');
  const { createDatabase, servers, urls } = resources.use(await startCitusCluster(directory));
  return { urls, isExternal: servers.length === 0, createDatabase };
}

/** Runs work on each server of a cluster, one after the other. */
export async function eachServer(
  urls: readonly string[],
  work: (url: string) => Promise<void>,
): Promise<void> {
  for (const url of urls) await work(url);
}

async function dropTemplate(server: string, template: string): Promise<void> {
  await execute(server, `alter database ${template} with is_template false`);
  await execute(server, `drop database ${template} with (force)`);
}

async function migrateDatabase(url: string, layout: string | undefined): Promise<void> {
  const pool = createPool({ url }, { maxConnections: 1, log });
  try {
    await migrate(pool);
    if (layout === undefined) return;
    const tables = listTablesToSpread(layout === 'usage');
    await inTransaction(pool, (client) => distributeTables(client, tables));
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
