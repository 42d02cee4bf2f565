import type { BigIntStats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';

import { hasCode, messageOf } from '#server/lib/unknown-values.ts';

import { ArchiveError, DamagedFileError } from './archive-error.ts';
import type { EventFile } from './read-file.ts';

/** Opens the file at a path for reading; null: there is none. @throws ArchiveError */
export async function openFile(path: string): Promise<EventFile | null> {
  const file = await readingOf(path, openIfPresent(path));
  return file && (await readingOf(path, fileOf(path, file)));
}

async function openIfPresent(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Returns an open file for reading. */
export async function fileOf(path: string, file: FileHandle): Promise<EventFile> {
  const stats = await file.stat({ bigint: true });
  const size = Number(stats.size);
  return {
    name: path,
    version: versionOf(stats),
    byteLength: size,
    async slice(start, end = size) {
      const bytes = new Uint8Array(end - start);
      const { bytesRead } = await readingOf(path, file.read(bytes, 0, bytes.length, start));
      if (bytesRead < bytes.length) throw new DamagedFileError(`${path} is not complete.`);
      return bytes.buffer;
    },
    close: () => file.close(),
  };
}

/** Returns the version of the file at a path; null: there is none. @throws ArchiveError */
export async function findFileVersion(path: string): Promise<string | null> {
  try {
    return versionOf(await stat(path, { bigint: true }));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw cannotBeRead(path, error);
  }
}

/** Size and time of the last change: the number of a file's inode is not constant on every network filesystem. */
export function versionOf({ mtimeNs, size }: BigIntStats): string {
  return `${size} bytes of ${mtimeNs}`;
}

async function readingOf<Result>(path: string, reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    throw cannotBeRead(path, error);
  }
}

function cannotBeRead(path: string, error: unknown): ArchiveError {
  return new ArchiveError(`${path} cannot be read (${messageOf(error)}).`, { cause: error });
}
