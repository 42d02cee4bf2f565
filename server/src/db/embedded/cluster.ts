import { spawn } from 'node:child_process';
import type { Stats } from 'node:fs';
import {
  chmod,
  chown,
  lchown,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

import { StartupError } from '#server/config/startup-error.ts';

import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { openForChild } from './directory-handle.ts';
import { hasCode } from './processes.ts';
import { initialSettings, readMemoryBytes, toArguments } from './settings.ts';

/** Everything in the cluster belongs to this role, which is no account of the system. */
export const DATABASE_USER = 'latchkey';

const INITDB_OPTIONS = [
  `--username=${DATABASE_USER}`,
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--data-checksums',
  // The way in is the socket, in a directory that only the cluster's owner may enter.
  '--auth-local=trust',
  '--auth-host=reject',
  '--no-instructions',
];

/** Where the cluster of a data directory lies. */
export function clusterDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'postgres');
}

/** The cluster's directory as it is on disk; null when there is none yet, or an empty one. */
export async function inspectCluster(directory: string): Promise<Stats | null> {
  try {
    const found = await stat(directory);
    return (await readdir(directory)).length === 0 ? null : found;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    if (!hasCode(error, 'EACCES')) throw error;
    throw new StartupError(
      [
        `The database in ${directory} belongs to another account: start Latchkey as root or as its owner.`,
      ],
      { cause: error },
    );
  }
}

/**
 * Makes sure that an existing cluster is of the version that we bring, and of the account that will run it.
 * @throws StartupError when it is of another version, or no cluster
 */
export async function checkCluster(
  directory: string,
  found: Stats,
  binaries: Binaries,
  account: Account | null,
): Promise<void> {
  const major = await readMajorVersion(directory);
  if (major !== binaries.major) {
    throw new StartupError([
      major === null
        ? `${directory} holds no PostgreSQL database: move it away, or set LATCHKEY_DATA_DIR to another directory.`
        : `The database in ${directory} was made by PostgreSQL ${major}, and this version of Latchkey brings PostgreSQL ${binaries.major}: move its data over with pg_dump and psql, or set DATABASE_URL to a server of your own.`,
    ]);
  }
  // A backup that root put back belongs to root.
  if (account !== null && found.uid !== account.uid) await giveTo(directory, account);
  // PostgreSQL refuses a directory that others may enter.
  if ((found.mode & 0o077) !== 0) await chmod(directory, 0o700);
}

async function readMajorVersion(directory: string): Promise<string | null> {
  try {
    return (await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

async function giveTo(directory: string, { uid, gid }: Account): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true })) {
    await lchown(join(directory, entry), uid, gid);
  }
  await chown(directory, uid, gid);
}

/**
 * Makes a cluster: UTF-8, sorted by code point on every system alike, with data checksums. It is made beside its place
 * and moved there when it is whole, so that an interrupted attempt leaves nothing which looks like a cluster.
 * @param durable whether it must survive a loss of power
 */
export async function createCluster(
  directory: string,
  binaries: Binaries,
  account: Account | null,
  durable: boolean,
): Promise<void> {
  const parent = join(directory, '..');
  for (const entry of await readdir(parent)) {
    if (entry.startsWith('postgres.new-')) {
      await rm(join(parent, entry), { recursive: true, force: true, maxRetries: 5 });
    }
  }
  const staging = await mkdtemp(join(parent, 'postgres.new-'));
  try {
    if (account !== null) await chown(staging, account.uid, account.gid);
    await runInitdb(staging, binaries, account, durable);
    await rename(staging, directory);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
  await syncDirectory(parent);
}

async function runInitdb(
  directory: string,
  binaries: Binaries,
  account: Account | null,
  durable: boolean,
): Promise<void> {
  const target = openForChild(directory, account);
  try {
    const settings = toArguments(initialSettings(readMemoryBytes()));
    const args = [`--pgdata=${target.path}`, ...INITDB_OPTIONS, ...settings];
    if (!durable) args.push('--no-sync');
    // Away from the terminal's signals: whether it goes on is decided by this process.
    const child = spawn(binaries.initdb, args, {
      ...account,
      cwd: '/',
      detached: true,
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'ignore', 'pipe', ...target.extraStdio],
    });
    if (child.stderr === null) throw new TypeError('initdb was started without a pipe');
    const [complaints, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    if (code !== 0) throw initdbFailed(directory, complaints);
  } finally {
    target.close();
  }
}

function initdbFailed(directory: string, complaints: string): StartupError {
  const reason = complaints.split('\n').find((line) => line.includes('error:')) ?? complaints;
  return new StartupError(
    [`No database could be made in ${join(directory, '..')}: ${reason.trim().slice(0, 300)}.`],
    { cause: new Error(complaints) },
  );
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
