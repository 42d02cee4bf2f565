import { closeSync, constants, fchmodSync, openSync } from 'node:fs';
import { join } from 'node:path';

import { clusterDirectory } from '#server/config/data-directory.ts';
import { StartupError } from '#server/config/startup-error.ts';

import type { Account } from './account.ts';

/** A data directory that this process can reach while it is open. */
export interface OpenDirectory {
  readonly path: string;
  /** The open descriptor that `path` leads through; null: it is the plain path. */
  readonly descriptor: number | null;
  close(): void;
}

const SOCKET_NAME = '.s.PGSQL.5432';

/** Bytes of a Unix socket's path without the terminating zero (unix(7); shorter on the BSDs and macOS). */
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;

/**
 * Opens a data directory, and returns a path to it that is short enough for a socket in the cluster. The path is the given
 * one, or that of an open descriptor if the given one is too long, or if this process drops root and may then no longer
 * enter the parent directories. A link or a socket in
 * another directory would need a place of its own that only the account may enter, and a chdir would change the meaning of
 * every relative path.
 * @param successor the account for which this process drops root; it may then enter the directory but not list it
 * @throws StartupError when the path is too long on a system other than Linux
 */
export function openDirectory(directory: string, successor: Account | null = null): OpenDirectory {
  const socket = join(clusterDirectory(directory), SOCKET_NAME);
  const isShort = Buffer.byteLength(socket) <= MAX_SOCKET_PATH;
  if (isShort && (successor === null || process.platform !== 'linux')) {
    return { path: directory, descriptor: null, close: () => {} };
  }
  if (process.platform !== 'linux') {
    throw new StartupError([
      `The path ${clusterDirectory(directory)} is too long for a Unix socket: set LATCHKEY_DATA_DIR to a shorter one.`,
    ]);
  }
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  if (successor !== null) fchmodSync(descriptor, 0o711);
  const path = `/proc/self/fd/${descriptor}`;
  return { path, descriptor, close: () => closeSync(descriptor) };
}

/**
 * Returns the path of a program's working directory, as the program's argument. A program that runs under another account
 * may not be able to enter the parent directories (a clone below /root), but it starts in its working directory.
 */
export function workingDirectoryPath(directory: string, account: Account | null): string {
  return account !== null && process.platform === 'linux' ? '/proc/self/cwd' : directory;
}
