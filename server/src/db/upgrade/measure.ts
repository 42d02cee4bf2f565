import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { hasCode } from '#server/lib/unknown-values.ts';

/** lstat(2) counts blocks of this size, whatever the file system uses. */
const BLOCK_BYTES = 512;

/**
 * Returns the bytes of a cluster on the disk that an upgrade copies: all but the write-ahead log, which grows to twice the size of a small
 * database.
 */
export async function measureCluster(directory: string): Promise<number> {
  const log = await measureDirectory(join(directory, 'pg_wal'));
  return (await measureDirectory(directory)) - log;
}

/** The copy reads and writes each row twice: 1,060 MB with two million rows took 230 seconds on two cores that others used, too. */
const BYTES_PER_MINUTE = 300_000_000;

/** Returns how many minutes an upgrade probably takes. @param bytes as `measureCluster` returns them */
export function estimateMinutes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_MINUTE);
}

/** Returns the bytes that a directory uses on the disk. Files that disappear during the measurement count as empty. */
export async function measureDirectory(directory: string): Promise<number> {
  let bytes = 0;
  for (const name of await orNone(readdir(directory), [])) {
    const path = join(directory, name);
    const found = await orNone(lstat(path), null);
    if (found === null) continue;
    bytes += found.isDirectory() ? await measureDirectory(path) : found.blocks * BLOCK_BYTES;
  }
  return bytes;
}

async function orNone<Value, None>(read: Promise<Value>, none: None): Promise<Value | None> {
  try {
    return await read;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return none;
    throw error;
  }
}
