import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the directory of the embedded PostgreSQL's cluster in a data directory. */
export function clusterDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'postgres');
}

/**
 * Creates a directory and its parents, for their owner only. In /proc this throws, whereas Node's `mkdir` with `recursive`
 * retries endlessly.
 * @throws the error of the file system
 */
export function createDirectory(path: string): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) createDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process created it.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
