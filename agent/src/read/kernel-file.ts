import { closeSync, openSync, readSync } from 'node:fs';

import { isMissing } from './small-file.ts';

/** /proc/stat of a machine with 8,192 cores is smaller. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Shared by all files: a result is used before the next read. */
let scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** A file of /proc or /sys that is opened once and read repeatedly from its start. */
export class KernelFile {
  readonly #path: string;
  #file: number | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Returns the current content; null when it is missing or unreadable. The next read retries.
   * The bytes are valid until another file is read.
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

/** Reads a file of any length once; null when it is missing. The bytes are valid within `use` only. */
export function readWhole<T>(path: string, use: (bytes: Buffer) => T): T | null {
  const file = new KernelFile(path);
  try {
    const bytes = file.read();
    return bytes === null ? null : use(bytes);
  } finally {
    file.close();
  }
}

/** The kernel returns its tables in pieces; an empty piece is the end. */
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
