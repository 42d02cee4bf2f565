import {
  chmodSync,
  chownSync,
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The permissions of a file and its owner. */
export interface Owner {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** Without an owner, the file belongs to this process. */
type FileAccess = Owner | { readonly mode: number };

/** Returns the temporary path of new content before it replaces a file. */
export function temporaryPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.latchkey-agent-new`);
}

/** A file that is written and synced under a temporary name. Disposing removes it unless it was renamed. */
export interface PreparedFile extends Disposable {
  /** Renames it to its final path: readers see the old file or the new one, never a part. */
  readonly place: () => void;
}

/** Replaces a file atomically. */
export function writeFile(path: string, bytes: Uint8Array | string, access: FileAccess): void {
  using file = prepareFile(path, bytes, access);
  file.place();
}

/** Writes a file under a temporary name, so that failures, such as a full disk, occur before the old file is replaced. */
export function prepareFile(
  path: string,
  bytes: Uint8Array | string,
  access: FileAccess,
): PreparedFile {
  const temporary = temporaryPath(path);
  rmSync(temporary, { force: true });
  try {
    writeSynced(temporary, bytes, access);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return {
    place() {
      renameSync(temporary, path);
      // Without this, the old file may return after a power failure.
      syncPath(dirname(path));
    },
    [Symbol.dispose]: () => rmSync(temporary, { force: true }),
  };
}

function writeSynced(path: string, bytes: Uint8Array | string, access: FileAccess): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(file, bytes);
    if ('uid' in access) fchownSync(file, access.uid, access.gid);
    fchmodSync(file, access.mode);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Replaces a path with a symbolic link atomically. */
export function writeLink(path: string, target: string): void {
  const temporary = temporaryPath(path);
  rmSync(temporary, { force: true });
  symlinkSync(target, temporary);
  renameSync(temporary, path);
  syncPath(dirname(path));
}

/** Creates a directory, or changes the owner and mode of an existing one. */
export function writeDirectory(path: string, { mode, uid, gid }: Owner): void {
  mkdirSync(path, { recursive: true });
  chownSync(path, uid, gid);
  // After chown, which clears some bits of the mode; mkdir applies the umask.
  chmodSync(path, mode);
}

/** Flushes a file, or the entries of a directory, to the disk. */
export function syncPath(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
