import { closeSync, openSync, readdirSync, readSync } from 'node:fs';

import { isMissing } from './missing.ts';

const MAX_BYTES = 64 * 1024;

const scratch = Buffer.allocUnsafeSlow(MAX_BYTES);

/**
 * Opens a file, gives the bytes of one read to a function and closes it; null when it is not there or cannot be read. The
 * kernel gives a longer table in pieces: those are for `readWhole`.
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

/** The text of a small file without the white space around it; null when it is not there or cannot be read. */
export function readText(path: string): string | null {
  return readBytes(path, (bytes) => bytes.toString('utf8').trim());
}

/** The whole number that a file consists of; null when there is none. */
export function readNumber(path: string): number | null {
  return parseNumber(readText(path));
}

/** A decimal number; null for anything else. */
export function parseNumber(text: string | null): number | null {
  return text !== null && /^-?\d{1,20}(\.\d{1,20})?$/.test(text) ? Number(text) : null;
}

/** The names in a directory; none when it is not there. */
export function listDirectory(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
