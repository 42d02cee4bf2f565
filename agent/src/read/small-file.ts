import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { endianness } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

import { codeOf } from '../errors.ts';
import type { Roots } from '../roots.ts';

const MAX_BYTES = 64 * 1024;

const scratch = Buffer.allocUnsafeSlow(MAX_BYTES);

/**
 * Passes the bytes of one read to `use`; null when the file is missing or unreadable. The kernel returns longer tables in
 * pieces: read those with `readWhole`.
 */
export function readBytes<T>(path: string, use: (bytes: Buffer) => T): T | null {
  let length: number;
  try {
    const file = openSync(path, 'r');
    try {
      length = readSync(file, scratch, 0, MAX_BYTES, 0);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  return use(scratch.subarray(0, length));
}

/** Returns the trimmed text of a small file; null when it is missing or unreadable. */
export function readText(path: string): string | null {
  return readBytes(path, (bytes) => bytes.toString('utf8').trim());
}

/** Returns the number in a file; null for anything else. */
export function readNumber(path: string): number | null {
  return parseNumber(readText(path));
}

/** Parses a decimal number; null for anything else. */
export function parseNumber(text: string | null): number | null {
  return text !== null && /^-?\d{1,20}(\.\d{1,20})?$/.test(text) ? Number(text) : null;
}

/** Returns the names in a directory; none when it is missing. */
export function listDirectory(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/**
 * Error codes for a file that does not exist, vanished (a device was unplugged, a process ended), that the driver cannot read
 * at the moment, or that this account may not read.
 */
const MISSING = new Set([
  'ENOENT',
  'ENOTDIR',
  'ENODEV',
  'ENXIO',
  'ESRCH',
  'EINVAL',
  'EOPNOTSUPP',
  'ENOTSUP',
  'ENODATA',
  'EAGAIN',
  'EBUSY',
  'EIO',
  'EREMOTEIO',
  'ETIMEDOUT',
  'EACCES',
  'EPERM',
]);

/** Whether a read failed because there is nothing to read. */
export function isMissing(error: unknown): boolean {
  return MISSING.has(codeOf(error));
}

/** Resolves the links of a path; null when it is missing. */
export function resolvePath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** AT_PAGESZ of getauxval(3). */
const AT_PAGESZ = 6n;

const ENTRY_BYTES = 16;

/** Returns the memory page size (4 KiB, on some ARM machines 16 or 64) from the auxiliary vector; null without one. */
export function readPageSizeBytes(roots: Roots): number | null {
  return readBytes(join(roots.proc, 'self/auxv'), (bytes) => {
    const read = (at: number): bigint =>
      endianness() === 'LE' ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at);
    for (let at = 0; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES) {
      if (read(at) === AT_PAGESZ) return Number(read(at + ENTRY_BYTES / 2));
    }
    return null;
  });
}

/**
 * Reads os-release(5).
 * @param paths where it may be; the first existing file is read
 * @returns the fields, without quotes around their values
 */
export function readOsRelease(paths: readonly string[]): ReadonlyMap<string, string> {
  const text = paths.map(readText).find((each) => each !== null) ?? '';
  const lines = text.matchAll(/^(?<name>[A-Z_]+)=(?<quote>["']?)(?<value>.*)\k<quote>\s*$/gmu);
  return new Map(
    Array.from(lines, ({ groups }) => [groups?.['name'] ?? '', (groups?.['value'] ?? '').trim()]),
  );
}

/**
 * Finds a program.
 * @param searchPath directories, as in PATH; relative ones are ignored
 * @returns its path; null when no directory has it
 */
export function findProgram(name: string, searchPath: string): string | null {
  return (
    searchPath
      .split(delimiter)
      .filter((directory) => isAbsolute(directory))
      .map((directory) => join(directory, name))
      .find(isExecutable) ?? null
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
