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

export interface Owner {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** Beside a file while its new text is written; one that a crash left is known by its name. */
export function temporaryPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.latchkey-agent-new`);
}

/** Replaces a file in one step: others see the old one or the new one, never a part. */
export function writeFile(path: string, bytes: Uint8Array | string, owner: Owner): void {
  const temporary = temporaryPath(path);
  rmSync(temporary, { force: true });
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeFileSync(file, bytes);
    fchownSync(file, owner.uid, owner.gid);
    fchmodSync(file, owner.mode);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  // Else a power cut may bring the old one back after the journal has forgotten it.
  syncPath(dirname(path));
}

/** Replaces what is at a path by a link, in one step. */
export function writeLink(path: string, target: string): void {
  const temporary = temporaryPath(path);
  rmSync(temporary, { force: true });
  symlinkSync(target, temporary);
  renameSync(temporary, path);
  syncPath(dirname(path));
}

/** Makes a directory, or gives the one that is there this owner. */
export function writeDirectory(path: string, { mode, uid, gid }: Owner): void {
  mkdirSync(path, { recursive: true });
  chownSync(path, uid, gid);
  // After its owner: a change of owner takes some bits of the mode away, and mkdir heeds the umask.
  chmodSync(path, mode);
}

/** Has the kernel write a file, or the names in a directory, down before this returns. */
export function syncPath(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
