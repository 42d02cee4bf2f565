import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { hasCode } from '#server/lib/unknown-values.ts';

/** lstat(2) counts blocks of this size, whatever the file system uses. */
const BLOCK_BYTES = 512;

/** Returns the bytes that a directory uses on the disk. Files that disappear meanwhile count as empty. */
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
