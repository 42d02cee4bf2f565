import { createWriteStream } from 'node:fs';
import { link, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, type ZstdCompress } from 'node:zlib';

import { codeOf, hasCode, messageOf } from '#server/lib/unknown-values.ts';

import { BackupError } from './backup-error.ts';

/** A backup contains personal data, so only its owner may read it. */
const FILE_MODE = 0o600;

const CHUNK_BYTES = 256 * 1024;

/** Adds bytes to a file; resolves when more can be taken. */
export type Write = (bytes: Buffer | string) => Promise<void>;

/**
 * Writes a new compressed file. It gets its name when it is complete, is on the disk and was verified; until then its name
 * begins with a dot and ends in `.partial`.
 * @param steps `write` its content, then `verify` the file at a path
 * @throws BackupError when the file exists or cannot be written
 */
export async function writeNewFile<Result>(
  path: string,
  steps: {
    readonly write: (write: Write) => Promise<void>;
    readonly verify: (path: string) => Promise<Result>;
  },
): Promise<Result> {
  const target = resolve(path);
  if (await exists(target)) throw alreadyExists(path);
  await explained(path, () => removeLeftovers(target));
  const partial = partialOf(target, process.pid);
  try {
    await explained(path, () => writeCompressed(partial, steps.write));
    const result = await steps.verify(partial);
    await explained(path, () => publish(partial, target));
    return result;
  } finally {
    await rm(partial, { force: true });
  }
}

function partialOf(target: string, pid: number | string): string {
  return join(dirname(target), `.${basename(target)}.${pid}.partial`);
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw cannotBeWritten(path, error);
  }
}

/** Removes what killed processes have left of this file. */
async function removeLeftovers(target: string): Promise<void> {
  const directory = dirname(target);
  for (const name of await readdir(directory)) {
    const [, pid = ''] = /\.(\d+)\.partial$/u.exec(name) ?? [];
    const isLeftover = join(directory, name) === partialOf(target, pid) && !isRunning(Number(pid));
    if (isLeftover) await rm(join(directory, name), { force: true });
  }
}

/** Whether a process runs on this machine. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}

async function writeCompressed(path: string, work: (write: Write) => Promise<void>): Promise<void> {
  const compress = createZstdCompress({
    chunkSize: CHUNK_BYTES,
    params: { [constants.ZSTD_c_checksumFlag]: 1 },
  });
  const file = createWriteStream(path, { flags: 'wx', mode: FILE_MODE, flush: true });
  const done = pipeline(compress, file);
  // The next write fails with the same error.
  done.catch(() => {});
  try {
    await work((bytes) => writeTo(compress, bytes));
    compress.end();
  } catch (error) {
    compress.destroy();
    throw compress.errored ?? error;
  }
  await done;
}

async function writeTo(compress: ZstdCompress, bytes: Buffer | string): Promise<void> {
  if (compress.errored !== null) throw compress.errored;
  if (!compress.write(bytes)) await once(compress, 'drain');
}

/** Filesystems without hard links return these. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Gives a file its name; unlike `rename` alone, does not overwrite another file. */
async function publish(partial: string, target: string): Promise<void> {
  try {
    await link(partial, target);
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error) ?? '')) throw error;
    await (await open(target, 'wx', FILE_MODE)).close();
    await rename(partial, target);
  }
  await flushDirectory(dirname(target));
}

async function flushDirectory(path: string): Promise<void> {
  // Windows opens no directories.
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function explained<Result>(path: string, writing: () => Promise<Result>): Promise<Result> {
  try {
    return await writing();
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw alreadyExists(path);
    const isOfFile =
      error instanceof Error && 'syscall' in error && !(error instanceof BackupError);
    throw isOfFile ? cannotBeWritten(path, error) : error;
  }
}

function alreadyExists(path: string): BackupError {
  return new BackupError(`${path} already exists: name a new file, or remove this one first.`);
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is larger than allowed',
  EROFS: 'the filesystem is read-only',
  EACCES: 'permission denied',
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'its directory does not exist',
};

function cannotBeWritten(path: string, error: unknown): BackupError {
  const cause = CAUSES[codeOf(error) ?? ''] ?? messageOf(error);
  return new BackupError(`${path} cannot be written (${cause}).`, { cause: error });
}
