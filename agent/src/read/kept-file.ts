import { closeSync, openSync, readSync } from 'node:fs';

import { isMissing } from './small-file.ts';

/** Nothing that we read is larger: /proc/stat of a machine with 8,192 cores has less. */
const MAX_BYTES = 4 * 1024 * 1024;

/** All files share it: what a read gives is used up before the next read. */
let scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** A file of /proc or /sys that is read again and again: opened once, and read from its start each time. */
export class KeptFile {
  readonly #path: string;
  #file: number | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * What the file says now; null when it is not there or cannot be read, and the next read tries again.
   * The bytes are valid until anything else is read.
   */
  read(): Buffer | null {
    try {
      this.#file ??= openSync(this.#path, 'r');
      return readToEnd(this.#file);
    } catch (error) {
      this.close();
      if (isMissing(error)) return null;
      throw error;
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}

/** Reads a file once, however long; null when it is not there. The bytes are valid within `use` only. */
export function readWhole<T>(path: string, use: (bytes: Buffer) => T): T | null {
  const file = new KeptFile(path);
  try {
    const bytes = file.read();
    return bytes === null ? null : use(bytes);
  } finally {
    file.close();
  }
}

/** The kernel gives its tables in pieces, so only an empty piece is the end. */
function readToEnd(file: number): Buffer {
  let length = 0;
  for (;;) {
    if (length === scratch.length) growScratch();
    const count = readSync(file, scratch, length, scratch.length - length, length);
    if (count === 0) return scratch.subarray(0, length);
    length += count;
  }
}

function growScratch(): void {
  if (scratch.length >= MAX_BYTES) throw new RangeError(`The file has over ${MAX_BYTES} bytes.`);
  scratch = Buffer.concat([scratch], scratch.length * 2);
}
