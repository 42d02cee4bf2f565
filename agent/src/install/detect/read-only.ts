import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

import type { Detection } from './detection.ts';

/** Where every installation writes. */
const PLACES = ['/etc', '/usr/bin', '/usr/lib', '/var/lib'];

/** Those of them that nobody can write to, as sentences: some machines keep parts of their disk read-only. */
export function listReadOnly({ root }: Pick<Detection, 'root'>): string[] {
  return PLACES.filter((path) => isReadOnly(join(root, path))).map(
    (path) =>
      `${path} is on a file system that can only be read: make it writable (mount -o remount,rw) and run this again.`,
  );
}

function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EROFS';
  }
}
