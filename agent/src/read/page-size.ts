import { endianness } from 'node:os';
import { join } from 'node:path';

import type { Roots } from '../roots.ts';
import { readBytes } from './small-file.ts';

/** AT_PAGESZ of getauxval(3). */
const AT_PAGESZ = 6n;

const ENTRY_BYTES = 16;

/** The size of a page of memory in bytes (4 KiB, on some ARM machines 16 or 64), from the auxiliary vector; else null. */
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
