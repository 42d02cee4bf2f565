import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A file that is written and on the disk, but not yet at its place. Disposed of, it is gone unless it was placed. */
export interface PreparedFile extends Disposable {
  /** Puts it at its place at once: whoever reads there gets the old one or this one, whole. */
  readonly place: () => void;
}

/**
 * Writes a file beside its place. All that may well fail, such as a full disk, fails here.
 * @param mode who may read it, whatever the mask of this process
 */
export function prepareFile(path: string, content: string | Buffer, mode: number): PreparedFile {
  const directory = dirname(path);
  const temporary = join(directory, `.${basename(path)}.new`);
  rmSync(temporary, { force: true });
  try {
    writeNew(temporary, content, mode);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return {
    place() {
      renameSync(temporary, path);
      syncDirectory(directory);
    },
    [Symbol.dispose]: () => rmSync(temporary, { force: true }),
  };
}

/** Writes a file whole or not at all. */
export function writeWhole(path: string, content: string | Buffer, mode: number): void {
  using file = prepareFile(path, content, mode);
  file.place();
}

function writeNew(path: string, content: string | Buffer, mode: number): void {
  const descriptor = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(descriptor, content);
    fchmodSync(descriptor, mode);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A rename is only sure to outlive a power cut when its directory is on the disk. */
function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
