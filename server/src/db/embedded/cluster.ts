import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Stats } from 'node:fs';
import {
  chmod,
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
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

import { diskFull, isDiskFull } from '#server/config/data-directory.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { hasCode } from '#server/lib/unknown-values.ts';

import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { workingDirectoryPath } from './open-directory.ts';
import { initialSettings, readMemoryBytes, toArguments } from './settings.ts';
import { nameAccount } from './unnamed-account.ts';

const run = promisify(execFile);

/** The role that owns everything in the cluster; it is unrelated to accounts of the system. */
export const DATABASE_USER = 'latchkey';

/** Prefix of a cluster that is being created. */
const STAGING_PREFIX = 'postgres.new-';

const INITDB_OPTIONS = [
  `--username=${DATABASE_USER}`,
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--data-checksums',
  // The socket is in a directory that only the cluster's owner may enter, an account that no other program uses.
  '--auth-local=trust',
  '--auth-host=reject',
  '--no-instructions',
];

/** Reads the attributes of a cluster's directory; null if it is missing or empty. */
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
 * Verifies the version of an existing cluster, and sets its owner and mode.
 * @throws StartupError when it is of another version, or no cluster
 */
export async function checkCluster(
  directory: string,
  found: Stats,
  binaries: Binaries,
  account: Account | null,
): Promise<void> {
  requireMajor(directory, await readMajor(directory), binaries.major);
  // A backup that root restored belongs to root.
  if (account !== null && found.uid !== account.uid) await changeOwner(directory, account);
  // PostgreSQL refuses a directory that others may enter.
  if ((found.mode & 0o077) !== 0) await chmod(directory, 0o700);
}

/** @throws StartupError with the command or the program that helps, when a cluster is of another major version */
function requireMajor(directory: string, major: string | null, own: string): void {
  if (major === null) throw noCluster(directory);
  if (isNewer(major, own)) throw newerCluster(directory, major, own);
  if (major === own) return;
  throw new StartupError([
    `The database in ${directory} was created by PostgreSQL ${major}, and this version of Latchkey includes PostgreSQL ${own}: run "latchkey upgrade-database".`,
  ]);
}

/** Whether a major version is later than another one. */
export function isNewer(major: string, than: string): boolean {
  return Number(major) > Number(than);
}

/** Returns the error for a directory that is not empty and has no database. */
export function noCluster(directory: string): StartupError {
  return new StartupError([
    `${directory} contains no PostgreSQL database: move it away, or set LATCHKEY_DATA_DIR to another directory.`,
  ]);
}

/** Returns the error for a cluster that a later version of Latchkey has created. */
export function newerCluster(directory: string, major: string, own: string): StartupError {
  return new StartupError([
    `The database in ${directory} was created by PostgreSQL ${major}, and this version of Latchkey includes PostgreSQL ${own}: start the newer version of Latchkey.`,
  ]);
}

/** Returns the major version that created a cluster, such as "18"; null if the directory has none. */
export async function readMajor(directory: string): Promise<string | null> {
  try {
    return (await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/**
 * Changes the owner of everything in the directory, by chown(1), which descends by descriptors (fts(3), fchownat(2)):
 * the former owner could replace a directory in a path by a symbolic link.
 */
async function changeOwner(directory: string, { uid, gid }: Account): Promise<void> {
  await run('chown', ['-R', '-h', '-P', `${uid}:${gid}`, directory]);
}

/**
 * Creates a cluster: UTF-8, sorted by code point on every system, with data checksums. It is created under a temporary
 * name and renamed when it is complete, so that an interrupted attempt leaves nothing that looks like a cluster.
 * @param durable whether it must survive a power failure
 */
export async function createCluster(
  directory: string,
  binaries: Binaries,
  account: Account | null,
  durable: boolean,
): Promise<void> {
  const parent = join(directory, '..');
  await removeInterruptedAttempts(parent);
  const staging = await createStaging(parent);
  try {
    if (account !== null) await lchown(staging, account.uid, account.gid);
    await runInitdb(staging, binaries, account, durable);
    await rename(staging, directory);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
  await syncDirectory(parent);
}

async function createStaging(parent: string): Promise<string> {
  try {
    return await mkdtemp(join(parent, STAGING_PREFIX));
  } catch (error) {
    throw isDiskFull(error) ? diskFull(parent, error) : error;
  }
}

async function removeInterruptedAttempts(parent: string): Promise<void> {
  for (const entry of await readdir(parent)) {
    if (!entry.startsWith(STAGING_PREFIX)) continue;
    await rm(join(parent, entry), { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runInitdb(
  directory: string,
  binaries: Binaries,
  account: Account | null,
  durable: boolean,
): Promise<void> {
  const settings = toArguments(initialSettings(readMemoryBytes()));
  const target = `--pgdata=${workingDirectoryPath(directory, account)}`;
  const args = [target, ...INITDB_OPTIONS, ...settings, ...(durable ? [] : ['--no-sync'])];
  await using name = await nameAccount(`${directory}.passwd`);
  const child = spawn(binaries.initdb, args, {
    ...account,
    cwd: directory,
    // In its own session, so that the terminal's Ctrl-C does not interrupt it.
    detached: true,
    env: { PATH: process.env['PATH'], ...name.variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  if (code !== 0) throw initdbFailed(directory, errors);
}

function initdbFailed(directory: string, errors: string): StartupError {
  const cause = new Error(errors);
  const parent = join(directory, '..');
  if (isDiskFull(cause)) return diskFull(parent, cause);
  if (errors.includes('could not look up effective user ID')) {
    return new StartupError(
      [
        `Could not create a database in ${parent}: the user id of this process has no name. Run it as an account of this system, or install Debian's libnss-wrapper.`,
      ],
      { cause },
    );
  }
  const reason = errors.split('\n').find((line) => line.includes('error:')) ?? errors;
  return new StartupError(
    [`Could not create a database in ${parent}: ${reason.trim().slice(0, 300)}.`],
    { cause },
  );
}

/** Flushes the names in a directory to the disk. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
