import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';

import { codeOf, messageOf } from '#server/lib/unknown-values.ts';

import type { Variables } from './env.ts';

const MAX_BYTES = 1024 * 1024;

const WRITABLE_BY_ALL = 0o002;

/** The variables of a `.env` file. */
export interface DotEnv {
  readonly variables: Variables;
  /** A sentence if there is such a file that cannot be used, or if it is unknown whether there is one; otherwise null. */
  readonly warning: string | null;
}

/**
 * Reads the `.env` file of a directory, which is optional: a file that cannot be used is reported, and the other settings apply.
 * A service may be started in a directory that its account may not read.
 * @param directory null when the working directory was removed
 */
export function readDotEnv(directory: string | null): DotEnv {
  if (directory === null) return nothing('The working directory was removed, so it has no .env.');
  const path = join(directory, '.env');
  try {
    return { variables: parseEnv(readText(path)), warning: null };
  } catch (error) {
    if (!isMissing(path, error))
      return nothing(
        `${path} is not used (${messageOf(error)}): correct it, or start in another directory.`,
      );
    return { variables: {}, warning: null };
  }
}

function nothing(warning: string): DotEnv {
  return { variables: {}, warning };
}

/** @throws Error when it is missing, is not a small file, is left by another account, or is not UTF-8 */
function readText(path: string): string {
  const stats = statSync(path);
  // A mount of a missing file creates a directory in its place.
  if (!stats.isFile()) throw new Error(stats.isDirectory() ? 'a directory' : 'not a file');
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    // Of the opened file: another account may replace one that it owns.
    const { size, uid } = fstatSync(file);
    if (size > MAX_BYTES) throw new Error('larger than 1 MiB');
    if (isForeign(path, uid)) throw new Error('of another account, in a directory of everybody');
    return decode(readFileSync(file));
  } finally {
    closeSync(file);
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new Error('not UTF-8', { cause: error });
    throw error;
  }
}

/** Whether another account may have left the file for those who start a command there, such as one in /tmp for root. */
function isForeign(path: string, owner: number): boolean {
  const isTrusted = owner === 0 || owner === process.geteuid?.();
  return !isTrusted && (statSync(dirname(path)).mode & WRITABLE_BY_ALL) !== 0;
}

/** Whether there is no such file. A link to a missing file was created on purpose. */
function isMissing(path: string, error: unknown): boolean {
  const isAbsent = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
  return isAbsent && lstatSync(path, { throwIfNoEntry: false }) === undefined;
}

/** Returns the working directory of the process; null when it was removed. */
export function findWorkingDirectory(): string | null {
  try {
    return process.cwd();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
