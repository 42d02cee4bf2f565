/** PostgreSQL with its client programs, as Debian installs it: the embedded one has no `pg_dump`. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { appendFile, chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { chooseAccount } from '#server/db/embedded/account.ts';

import { eventually } from './eventually.ts';
import { execute, withDatabase } from './test-cluster.ts';

const run = promisify(execFile);

const PROGRAMS = ['initdb', 'postgres', 'pg_basebackup', 'pg_dump', 'pg_restore'];

/** The directory of its programs. */
export const programs = globSync('/usr/lib/postgresql/*/bin').find((directory) =>
  PROGRAMS.every((program) => existsSync(join(directory, program))),
);

/** Why tests that need it are skipped; false if it is installed. */
export const lacksPostgres =
  programs === undefined ? 'needs PostgreSQL (Debian: apt-get install postgresql)' : false;

/** A running server of the installed PostgreSQL. */
export interface InstalledPostgres extends AsyncDisposable {
  /** A directory for files. */
  readonly directory: string;
  /** Creates an empty database, and returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** Runs one of its client programs. */
  run(program: 'pg_dump' | 'pg_restore', args: readonly string[]): Promise<void>;
}

/** Starts a server on a socket in a temporary directory. */
export async function startInstalledPostgres(): Promise<InstalledPostgres> {
  await using resources = new AsyncDisposableStack();
  const bin = programs ?? '';
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-postgres-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const { url } = resources.use(await startServer({ bin, directory }));
  const kept = resources.move();
  return {
    directory,
    async createDatabase(name) {
      await execute(url, `create database ${name}`);
      return withDatabase(url, name);
    },
    run: async (program, programArgs) => void (await run(join(bin, program), [...programArgs])),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** A server of an installed PostgreSQL, which can be stopped and started again. */
export interface Server extends AsyncDisposable {
  /** Its database `postgres`, by the socket. */
  readonly url: string;
  /** The directory of its cluster. */
  readonly data: string;
  start(): Promise<void>;
  /** Ends it at once, as a crash does. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly bin: string;
  /** For the cluster and the socket. */
  readonly directory: string;
  /** Default: 5432. */
  readonly port?: number;
  /** Lines of its configuration file. */
  readonly settings?: readonly string[];
  /** Creates the cluster. Default: an empty one. */
  readonly create?: (data: string, spawning: object) => Promise<void>;
}

/** Creates a cluster and starts its server, which never syncs the disk, on a socket in the directory. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { bin, directory, port = 5432, settings = [] } = options;
  // PostgreSQL refuses to run as root.
  const account = await chooseAccount(undefined, null);
  if (account !== null) await chown(directory, account.uid, account.gid);
  // Services that dropped root reach the socket.
  await chmod(directory, 0o711);
  const spawning = { cwd: directory, ...account };
  const data = join(directory, 'data');
  await (options.create ?? createEmpty(bin))(data, spawning);
  const own = [
    "listen_addresses = ''",
    `port = ${port}`,
    `unix_socket_directories = '${directory}'`,
    'fsync = off',
  ];
  await appendFile(join(data, 'postgresql.conf'), `${[...own, ...settings].join('\n')}\n`);
  const socket = encodeURIComponent(directory);
  const url = `postgresql://latchkey@localhost:${port}/postgres?host=${socket}`;
  let server: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (server?.exitCode === null && server.kill('SIGQUIT')) await once(server, 'exit');
  };
  const start = async (): Promise<void> => {
    server = spawn(join(bin, 'postgres'), ['-D', data], { stdio: 'ignore', ...spawning });
    await eventually(() => answers(url), { describe: () => 'the installed PostgreSQL' });
  };
  await start();
  return { url, data, start, stop, [Symbol.asyncDispose]: stop };
}

function createEmpty(bin: string): NonNullable<ServerOptions['create']> {
  const options = ['--no-sync', '--username=latchkey', '--encoding=UTF8', '--locale=C'];
  return async (data, spawning) =>
    void (await run(join(bin, 'initdb'), [...options, data], spawning));
}

async function answers(url: string): Promise<boolean> {
  try {
    await execute(url, 'select 1');
    return true;
  } catch {
    // It is still starting.
    return false;
  }
}
