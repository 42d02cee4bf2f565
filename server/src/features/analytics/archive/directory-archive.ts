import { constants, mkdir, open, readdir, realpath, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { isDatabaseUnavailable } from '#server/db/database-errors.ts';
import { codeOf, hasCode, messageOf } from '#server/lib/unknown-values.ts';

import { parseDay, type Day } from '../rules/days.ts';
import { ArchiveError } from './archive-error.ts';
import { pathOf, type EventArchive } from './event-archive.ts';
import type { EventFile } from './read-file.ts';

/** Only the owner may list and read events. */
const DIRECTORY_MODE = 0o700;

/** The name of a file that is being written; a killed process leaves it, and the next run removes it. */
const PARTIAL = '.events.parquet.partial';

/**
 * Opens an archive in a directory.
 * @throws ArchiveError for a directory that does not exist
 */
export async function openDirectoryArchive(given: string): Promise<EventArchive> {
  const location = await findDirectory(given);
  const fileOf = (day: Day): string => join(location, pathOf(day));
  return {
    location,
    nameOf: fileOf,
    listDays: () => listDays(location),
    open: (day) => openFile(fileOf(day)),
    async store(day, write, verify) {
      const path = fileOf(day);
      try {
        await storeFile(location, path, { write, verify });
      } catch (error) {
        throw explainWrite(error, path);
      }
    },
  };
}

async function findDirectory(given: string): Promise<string> {
  try {
    const location = await realpath(given);
    await readdir(location);
    return location;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      throw new ArchiveError(`The directory ${given} does not exist: create it first.`);
    }
    throw new ArchiveError(`The directory ${given} cannot be read (${String(codeOf(error))}).`);
  }
}

async function listDays(location: string): Promise<readonly Day[]> {
  const names = await list(join(location, 'events'));
  const days = names.flatMap((name) => parseDay(name.replace(/^day=/u, '')) ?? []).toSorted();
  const found: Day[] = [];
  for (const day of days) {
    if ((await list(dirname(join(location, pathOf(day))))).includes('events.parquet'))
      found.push(day);
  }
  return found;
}

async function list(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw new ArchiveError(`The directory ${directory} cannot be read (${String(codeOf(error))}).`);
  }
}

async function openFile(path: string): Promise<EventFile | null> {
  try {
    const file = await open(path, 'r');
    const { size } = await file.stat();
    return {
      name: path,
      byteLength: size,
      async slice(start, end = size) {
        const bytes = new Uint8Array(end - start);
        const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
        if (bytesRead < bytes.length) throw new ArchiveError(`${path} is shorter than before.`);
        return bytes.buffer;
      },
      close: () => file.close(),
    };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw new ArchiveError(`${path} cannot be read (${messageOf(error)}).`, { cause: error });
  }
}

interface Steps {
  readonly write: (path: string) => Promise<void>;
  readonly verify: (file: EventFile) => Promise<void>;
}

/** Writes and verifies a file under another name, and renames it. */
async function storeFile(location: string, path: string, { write, verify }: Steps): Promise<void> {
  const directory = dirname(path);
  const partial = join(directory, PARTIAL);
  try {
    await ensureDirectory(dirname(directory));
    await ensureDirectory(directory);
    await rm(partial, { force: true });
    await write(partial);
    const written = await openFile(partial);
    if (written === null) throw new ArchiveError(`${partial} was removed while it was written.`);
    await verify(written);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    await removeIfEmpty(directory);
    await removeIfEmpty(dirname(directory));
    throw error;
  }
  for (const each of [directory, dirname(directory), location]) await flushDirectory(each);
}

/** Unlike `recursive`, it does not try forever in /proc, where a directory exists and none can be created. */
async function ensureDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: DIRECTORY_MODE });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

/** Flushes names to the disk, so that the file survives a power failure before its events are dropped. */
async function flushDirectory(path: string): Promise<void> {
  // Windows opens no directories.
  if (process.platform === 'win32') return;
  const directory = await open(path, constants.O_RDONLY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function removeIfEmpty(directory: string): Promise<void> {
  // It has other files, or cannot be changed; the first error is the one to report.
  await rmdir(directory).catch(() => undefined);
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is larger than allowed',
  EROFS: 'the filesystem is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

/** Returns the error of the filesystem as a sentence; other errors unchanged. */
export function explainWrite(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (!(error instanceof Error) || !('syscall' in error) || code === undefined) return error;
  if (isDatabaseUnavailable(error)) return error;
  const cause = CAUSES[code] ?? messageOf(error);
  return new ArchiveError(`${path} cannot be written (${cause}).`, { cause: error });
}
