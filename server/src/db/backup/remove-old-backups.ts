import { lstat, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { hasCode, messageOf } from '#server/lib/unknown-values.ts';

import { BackupError } from './backup-error.ts';
import { isRunning } from './backup-file.ts';
import { isBackupName, writerOf } from './backup-name.ts';
import type { BackupHeader } from './format.ts';
import { listSurplus, type StoredBackup } from './list-surplus.ts';
import { openBackup } from './read-backup.ts';

/** What happened to the older backups of a directory: names of files. */
export interface Rotation {
  readonly removed: readonly string[];
  /** Files with the name of a backup that are none, cannot be read, or belong to another installation. They are kept. */
  readonly unrecognized: readonly string[];
  readonly failures: readonly { readonly name: string; readonly cause: string }[];
}

/** What is kept, and how the others are removed. */
export interface RotationOptions {
  /** How many backups are kept, with the new one; at least 1. */
  readonly keep: number;
  /** The ids of the master secrets of this installation. */
  readonly secretIds: readonly string[];
  /** When the new backup began, as its header says. */
  readonly now: Date;
  /** Default: removes the file. */
  readonly remove?: (path: string) => Promise<void>;
}

/**
 * Removes all but the newest backups of this installation from the directory of one that was just written, and what killed
 * commands have left there. It removes only files whose name it chose itself, and which begin with the header of a backup
 * under one of the master secrets of this installation. It continues after a file that cannot be removed.
 * @param written the path of the backup that was just written and verified, which is kept
 */
export async function removeOldBackups(
  written: string,
  options: RotationOptions,
): Promise<Rotation> {
  const directory = dirname(written);
  const names = (await readdir(directory)).toSorted();
  const others = names.filter((name) => isBackupName(name) && name !== basename(written));
  const stored: StoredBackup[] = [];
  const unrecognized: string[] = [];
  for (const name of others) {
    const header = await readOwnHeader(join(directory, name), options.secretIds);
    if (header === null) unrecognized.push(name);
    else stored.push({ name, createdAt: new Date(header.created_at) });
  }
  const leftovers = await listLeftovers(directory, names, options.now);
  const surplus = listSurplus(
    { name: basename(written), createdAt: options.now },
    stored,
    options.keep,
  );
  const paths = [...surplus, ...leftovers].map((name) => join(directory, name));
  return { unrecognized, ...(await removeFiles(paths, options.remove ?? rm)) };
}

/** Returns the header of a backup of this installation; null for any other file. */
async function readOwnHeader(
  path: string,
  secretIds: readonly string[],
): Promise<BackupHeader | null> {
  try {
    if (!(await lstat(path)).isFile()) return null;
    await using backup = await openBackup(path);
    const { header } = backup;
    const isOwn = header.secret_ids.some((id) => secretIds.includes(id));
    return isOwn && !Number.isNaN(Date.parse(header.created_at)) ? header : null;
  } catch (error) {
    // No backup, a damaged or a newer one, or a file that is gone or unreadable: it is not removed.
    if (error instanceof BackupError || isSystemError(error)) return null;
    throw error;
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/** A file that is being written changes all the time, also when its process is one of another container. */
const LEFTOVER_AGE_MS = 3_600_000;

async function listLeftovers(
  directory: string,
  names: readonly string[],
  now: Date,
): Promise<string[]> {
  const leftovers: string[] = [];
  for (const name of names) {
    const pid = writerOf(name);
    if (pid === null || isRunning(pid)) continue;
    const age = await readAgeMs(join(directory, name), now);
    if (age > LEFTOVER_AGE_MS) leftovers.push(name);
  }
  return leftovers;
}

async function readAgeMs(path: string, now: Date): Promise<number> {
  try {
    return now.getTime() - (await lstat(path)).mtimeMs;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0;
    throw error;
  }
}

async function removeFiles(
  paths: readonly string[],
  remove: (path: string) => Promise<void>,
): Promise<Pick<Rotation, 'removed' | 'failures'>> {
  const removed: string[] = [];
  const failures: { name: string; cause: string }[] = [];
  for (const path of paths) {
    const name = basename(path);
    try {
      await remove(path);
      removed.push(name);
    } catch (error) {
      // Another backup to the same directory removes the same files.
      if (!hasCode(error, 'ENOENT')) failures.push({ name, cause: messageOf(error) });
    }
  }
  return { removed, failures };
}
