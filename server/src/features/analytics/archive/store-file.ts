import { randomUUID } from 'node:crypto';
import {
  constants,
  link,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  type FileHandle,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { codeOf, hasCode } from '#server/lib/unknown-values.ts';

import { changedByAnother, type StoreSteps } from './event-archive.ts';
import { fileOf, versionOf } from './open-file.ts';

/** Only the owner may list and read events. */
const DIRECTORY_MODE = 0o700;
export const FILE_MODE = 0o600;

/** The names of files that are being written. An interrupted process leaves one, and the next run removes it. */
const PARTIAL = /^\.events\.parquet\..*partial$/u;

/**
 * Writes and verifies a file under a temporary name, and gives it its name in one step.
 * @returns its version
 */
export async function storeFile(path: string, steps: StoreSteps): Promise<string> {
  const directory = dirname(path);
  const partial = join(directory, `.events.parquet.${randomUUID()}.partial`);
  try {
    await ensureDirectory(dirname(directory));
    await ensureDirectory(directory);
    await writeFile(partial, steps);
    const version = await requireVersion(partial);
    await publish(partial, path, steps.replaces);
    return version;
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    await removeIfEmpty(directory);
    await removeIfEmpty(dirname(directory));
    throw error;
  }
}

async function writeFile(partial: string, { verify, write }: StoreSteps): Promise<void> {
  const file = await open(partial, 'wx+', FILE_MODE);
  try {
    await write(file);
    await file.sync();
    await verify(await fileOf(partial, file));
  } finally {
    await file.close();
  }
}

/** Read after the file was closed, because a network filesystem may change its time then. */
async function requireVersion(path: string): Promise<string> {
  return versionOf(await stat(path, { bigint: true }));
}

/** Filesystems without hard links return these. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Renames a file; unlike `rename` alone, does not overwrite a file that is not the one to replace. */
async function publish(partial: string, path: string, replaces: string | null): Promise<void> {
  if (replaces !== null) {
    if ((await requireVersion(path)) !== replaces) throw changedByAnother(path);
    return rename(partial, path);
  }
  if (await tryLink(partial, path)) return rm(partial);
  await reserve(path);
  return rename(partial, path);
}

/** Returns whether the file has its name; false: the filesystem has no hard links. */
async function tryLink(partial: string, path: string): Promise<boolean> {
  try {
    await link(partial, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw changedByAnother(path);
    if (NO_LINKS.has(codeOf(error) ?? '')) return false;
    throw error;
  }
}

/** Creates an empty file, which only one process can. A process that is killed then leaves it, and an operator has to remove it. */
async function reserve(path: string): Promise<void> {
  try {
    const file = await open(path, 'wx', FILE_MODE);
    await file.close();
  } catch (error) {
    throw hasCode(error, 'EEXIST') ? changedByAnother(path) : error;
  }
}

/** Unlike `recursive`, it does not try forever in /proc, where a directory exists and none can be created. */
async function ensureDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: DIRECTORY_MODE });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

async function removeIfEmpty(directory: string): Promise<void> {
  // It has other files, or cannot be changed; the first error is the one to report.
  await rmdir(directory).catch(() => undefined);
}

/** Removes what interrupted processes left in the directory of a day. */
export async function removePartials(directory: string): Promise<void> {
  const names = await readdir(directory);
  for (const name of names.filter((each) => PARTIAL.test(each))) await rm(join(directory, name));
}

/** Flushes a file, and the names that lead to it. @param directories from the innermost to the outermost one */
export async function flushFile(path: string, directories: readonly string[]): Promise<void> {
  // Windows flushes only files that are open for writing, and opens no directories.
  const isWindows = process.platform === 'win32';
  await withFile(path, isWindows ? constants.O_RDWR : constants.O_RDONLY, (file) => file.sync());
  for (const each of isWindows ? [] : directories) {
    await withFile(each, constants.O_RDONLY, (directory) => directory.sync());
  }
}

async function withFile(
  path: string,
  flags: number,
  work: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(path, flags);
  try {
    await work(file);
  } finally {
    await file.close();
  }
}
