import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory, and those above it, unless they are there. Where the file system refuses, as in /proc, this throws,
 * whereas Node's `mkdir` with `recursive` would try again for ever.
 * @param mode permissions of each directory that is made
 * @throws the error of the file system
 */
export function makeDirectory(path: string, mode: number): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeDirectory(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process was faster.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
