import { readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { isDatabaseUnavailable } from '#server/db/database-errors.ts';
import { codeOf, hasCode, messageOf } from '#server/lib/unknown-values.ts';

import { parseDay, type Day } from '../rules/days.ts';
import { ArchiveError } from './archive-error.ts';
import { pathOf, type EventArchive } from './event-archive.ts';
import { findFileVersion, openFile } from './open-file.ts';
import { flushFile, removePartials, storeFile } from './store-file.ts';

/**
 * Opens an archive in a directory.
 * @throws ArchiveError for a directory that does not exist
 */
export async function openDirectoryArchive(given: string): Promise<EventArchive> {
  const location = await findDirectory(given);
  const nameOf = (day: Day): string => join(location, pathOf(day));
  return {
    location,
    nameOf,
    listDays: () => listDays(location),
    open: (day) => openFile(nameOf(day)),
    store: (day, steps) => explained(nameOf(day), storeFile(nameOf(day), steps)),
    flush: (day) => explained(nameOf(day), flushFile(nameOf(day), parentsOf(location, day))),
    findVersion: (day) => findFileVersion(nameOf(day)),
    removeLeftovers: () => removeLeftovers(location),
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

/** Returns the directories whose entries lead to the file of a day, from the innermost one. */
function parentsOf(location: string, day: Day): string[] {
  const directory = dirname(join(location, pathOf(day)));
  return [directory, dirname(directory), location];
}

async function listDays(location: string): Promise<readonly Day[]> {
  const found: Day[] = [];
  for (const day of await listDirectories(location)) {
    const names = await list(dirname(join(location, pathOf(day))));
    if (names.includes('events.parquet')) found.push(day);
  }
  return found;
}

async function removeLeftovers(location: string): Promise<void> {
  for (const day of await listDirectories(location)) {
    const directory = dirname(join(location, pathOf(day)));
    await explained(directory, removePartials(directory));
  }
}

/** Returns the days that have a directory, oldest first. */
async function listDirectories(location: string): Promise<readonly Day[]> {
  const names = await list(join(location, 'events'));
  const days = names.filter((name) => name.startsWith('day='));
  return days.flatMap((name) => parseDay(name.slice('day='.length)) ?? []).toSorted();
}

async function list(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw new ArchiveError(`The directory ${directory} cannot be read (${String(codeOf(error))}).`);
  }
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is larger than allowed',
  EROFS: 'the filesystem is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

async function explained<Result>(path: string, writing: Promise<Result>): Promise<Result> {
  try {
    return await writing;
  } catch (error) {
    throw explainWrite(error, path);
  }
}

/** Returns the error of the filesystem as a sentence; other errors unchanged. */
export function explainWrite(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (!(error instanceof Error) || !('syscall' in error) || code === undefined) return error;
  if (isDatabaseUnavailable(error)) return error;
  const cause = CAUSES[code] ?? messageOf(error);
  return new ArchiveError(`${path} cannot be written (${cause}).`, { cause: error });
}
