import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';

import { chooseAccount } from '#server/db/embedded/account.ts';

import { eventually } from './eventually.ts';
import { findFreePort, listenOnFreePort } from './ports.ts';

const found = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' });

/** Why tests that need PgBouncer are skipped; false if it is installed. */
export const lacksPgbouncer = found.status === 0 ? false : 'needs PgBouncer';

const [, major = 0, minor = 0] = /PgBouncer (\d+)\.(\d+)/.exec(found.stdout ?? '') ?? [];

/** Whether it supports prepared statements in transaction mode, as 1.21 and newer do. */
export const supportsPreparedStatements = Number(major) > 1 || Number(minor) >= 21;

/** A pooler in front of a database. */
export interface Pooler extends AsyncDisposable {
  /** The database through the pooler. */
  readonly url: string;
}

/**
 * Starts PgBouncer in front of a database, with so few server connections that clients share them.
 * @param settings lines of its section `[pgbouncer]`
 */
export async function startPgbouncer(
  databaseUrl: string,
  settings: readonly string[],
): Promise<Pooler> {
  await using resources = new AsyncDisposableStack();
  const { user = '', password, database = '', host, port: databasePort } = new Client(databaseUrl);
  const relay = createRelay(host, databasePort);
  resources.defer(() => void relay.close());
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-pgbouncer-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const port = await findFreePort();
  const file = join(directory, 'pgbouncer.ini');
  const credentials = password ? `user=${user} password=${password}` : `user=${user}`;
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${await listenOnFreePort(relay)} ${credentials}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'default_pool_size = 4',
    ...settings,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  // PgBouncer refuses to run as root.
  const account = await chooseAccount(undefined, null);
  if (account !== null) await chown(directory, account.uid, account.gid);
  const child = spawn('pgbouncer', ['--quiet', file], { stdio: 'ignore', ...account });
  resources.defer(async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  });
  const url = `postgres://${user}@127.0.0.1:${port}/${database}`;
  await eventually(() => answers(url), { describe: () => `PgBouncer with ${settings.join(', ')}` });
  const kept = resources.move();
  return { url, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Relays to PostgreSQL, since its socket may be in a directory that only the tests' account may enter. */
function createRelay(host: string, port: number): Server {
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  return createServer((near) => {
    const far = connect(target);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => to.destroy()).pipe(to);
    }
  });
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    // It is still starting.
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
