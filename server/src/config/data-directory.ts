import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { codeOf, messageOf } from '#server/lib/unknown-values.ts';

import { StartupError } from './startup-error.ts';

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

/** Whether an error, or a log of PostgreSQL, says that no space is left. */
export function isDiskFull(error: unknown): boolean {
  return (
    ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '') ||
    /No space left on device|Disk quota exceeded/u.test(messageOf(error))
  );
}

/** Below this, the service stores no more events. */
const NEEDED_MIB = 512;

/** Returns the problem of a data directory whose disk is full. */
export function diskFull(dataDirectory: string, cause: unknown): StartupError {
  return new StartupError(
    [
      `The disk is full: free ${NEEDED_MIB} MiB or more for the data directory ${dataDirectory}, or set LATCHKEY_DATA_DIR to one on another disk.`,
    ],
    { cause },
  );
}
