import { execFile } from 'node:child_process';
import type { Stats } from 'node:fs';
import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { StartupError } from '#server/config/startup-error.ts';
import { hasCode } from '#server/lib/error-code.ts';

import type { Account } from './system-accounts.ts';
import type { Binaries } from './binaries.ts';

const run = promisify(execFile);

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
  // A backup restored by root belongs to root, and clusters used to belong to `nobody`.
  if (account !== null && found.uid !== account.uid) await changeOwner(directory, account);
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

/**
 * Changes the owner of everything in the directory. By chown(1), which descends by descriptors (fts(3), fchownat(2)): paths
 * would follow a directory that its former owner replaces with a symbolic link meanwhile.
 */
async function changeOwner(directory: string, { uid, gid }: Account): Promise<void> {
  await run('chown', ['-R', '-h', '-P', `${uid}:${gid}`, directory]);
}
