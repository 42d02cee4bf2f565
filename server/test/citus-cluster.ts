/** Citus: a coordinator and two workers, each on a socket of its own; or an external cluster. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { Client } from 'pg';

import { type Server, startServer } from './installed-postgres.ts';
import { execute, withDatabase } from './test-cluster.ts';

/** The URL of the coordinator of a cluster for the tests, whose user may create databases and extensions on all servers. */
const EXTERNAL_COORDINATOR_VARIABLE = 'LATCHKEY_TEST_CITUS_URL';

const external = process.env[EXTERNAL_COORDINATOR_VARIABLE];

const bin = globSync('/usr/lib/postgresql/*/bin').find(hasCitus);

function hasCitus(directory: string): boolean {
  const { stdout } = spawnSync(join(directory, 'pg_config'), ['--sharedir'], { encoding: 'utf8' });
  return existsSync(join((stdout ?? '').trim(), 'extension/citus.control'));
}

const NEEDED = `needs Citus: install its package for a PostgreSQL below /usr/lib/postgresql, or set ${EXTERNAL_COORDINATOR_VARIABLE} to the URL of a coordinator`;

/** Why tests that need Citus are skipped; false if it is installed. */
export const lacksCitus = bin === undefined && external === undefined ? NEEDED : false;

/** Why tests that stop servers of a cluster are skipped; false if Citus is installed. */
export const lacksOwnCitus = bin === undefined ? NEEDED : false;

/** A coordinator, and its workers. */
export interface CitusCluster extends AsyncDisposable {
  /** The coordinator, then the workers: a database that always exists. */
  readonly urls: readonly string[];
  /** The servers in the same order; none of an external cluster. */
  readonly servers: readonly Server[];
  /** Creates a database on every server and joins them; returns the coordinator's URL. */
  readonly createDatabase: (name: string) => Promise<string>;
}

const SETTINGS = [
  "shared_preload_libraries = 'citus'",
  'max_connections = 300',
  'max_prepared_transactions = 300',
  // Each database has a maintenance process.
  'max_worker_processes = 200',
  "citus.node_conninfo = 'sslmode=prefer'",
  'citus.max_adaptive_executor_pool_size = 1',
  "citus.multi_shard_modify_mode = 'sequential'",
  'citus.max_cached_conns_per_worker = 1',
];

/** As of the role of a service (docs/operations/install.md). */
const COORDINATOR_SETTINGS = ["lock_timeout = '500ms'"];

/**
 * Starts a coordinator and two workers, or opens the external cluster.
 * @param directory for their data; the caller removes it
 * @param more lines of the configuration files
 */
export async function startCitusCluster(
  directory: string,
  more: readonly string[] = [],
): Promise<CitusCluster> {
  if (external !== undefined) return describeCluster(await listExternalUrls(external), []);
  await using resources = new AsyncDisposableStack();
  const servers: Server[] = [];
  for (const name of ['coordinator', 'worker-1', 'worker-2']) {
    const home = join(directory, name);
    const own = name === 'coordinator' ? COORDINATOR_SETTINGS : [];
    const settings = [...SETTINGS, ...own, ...more];
    await mkdir(home, { recursive: true });
    await chmod(directory, 0o711);
    servers.push(resources.use(await startServer({ bin: bin ?? '', directory: home, settings })));
  }
  const cluster = describeCluster(
    servers.map(({ url }) => url),
    servers,
  );
  const kept = resources.move();
  return { ...cluster, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function describeCluster(urls: readonly string[], servers: readonly Server[]): CitusCluster {
  return {
    urls,
    servers,
    createDatabase: (name) => createDatabase(urls, name),
    [Symbol.asyncDispose]: async () => {},
  };
}

async function createDatabase(urls: readonly string[], name: string): Promise<string> {
  for (const url of urls) {
    await execute(url, `create database ${name}`);
    await execute(withDatabase(url, name), 'create extension citus');
  }
  const [coordinator = '', ...workers] = urls.map((url) => withDatabase(url, name));
  await execute(coordinator, `select citus_set_coordinator_host(${addressOf(coordinator)})`);
  for (const worker of workers) {
    await execute(coordinator, `select citus_add_node(${addressOf(worker)})`);
  }
  return coordinator;
}

/** Returns the parameters of `citus_add_node`. */
function addressOf(url: string): string {
  const { host, port } = new Client(url);
  return `'${host}', ${port}`;
}

async function listExternalUrls(coordinator: string): Promise<string[]> {
  const client = new Client(coordinator);
  await client.connect();
  try {
    const { rows } = await client.query<{ host: string; port: number }>(
      `select nodename as host, nodeport as port from pg_dist_node where groupid <> 0 order by groupid`,
    );
    return [coordinator, ...rows.map(({ host, port }) => withAddress(coordinator, host, port))];
  } finally {
    await client.end();
  }
}

function withAddress(url: string, host: string, port: number): string {
  const changed = new URL(url);
  changed.hostname = host;
  changed.port = String(port);
  return changed.href;
}

/** Starts a server of the same PostgreSQL without Citus. @param directory as of {@link startCitusCluster} */
export async function startPlainServer(
  directory: string,
  settings: readonly string[],
): Promise<Server> {
  await mkdir(directory, { recursive: true });
  return startServer({ bin: bin ?? '', directory, settings });
}
