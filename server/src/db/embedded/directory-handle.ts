import { closeSync, constants, fchmodSync, openSync } from 'node:fs';
import { join } from 'node:path';

import { StartupError } from '#server/config/startup-error.ts';

import type { Account } from './system-accounts.ts';

/** A directory as a program that we start sees it. */
export interface DirectoryForChild {
  /** The path to give to the program. */
  readonly path: string;
  /** What its `stdio` must hold in the fourth place; empty where the path is the plain one. */
  readonly extraStdio: readonly number[];
  close(): void;
}

/** The first descriptor behind standard input, output and error. */
const CHILD_DESCRIPTOR = 3;

/**
 * Makes a directory reachable for a program that runs under another account, which may not be allowed to enter the
 * directories above it (a clone below /root): it inherits the open directory, and /proc/self/fd leads straight there.
 */
export function openForChild(directory: string, account: Account | null): DirectoryForChild {
  if (account === null || process.platform !== 'linux') {
    return { path: directory, extraStdio: [], close: () => {} };
  }
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  return {
    path: `/proc/self/fd/${CHILD_DESCRIPTOR}`,
    extraStdio: [descriptor],
    close: () => closeSync(descriptor),
  };
}

/** A directory by a path that stays usable for as long as it is held. */
export interface HeldDirectory {
  readonly path: string;
  close(): void;
}

/**
 * Holds a directory for a process that will give up root for the account: afterwards the account may not be allowed to
 * enter the directories above, and the open descriptor leads straight there. Others may pass through the directory and not
 * list it; what lies in it has permissions of its own.
 */
export function holdDirectory(directory: string, account: Account | null): HeldDirectory {
  if (account === null || process.platform !== 'linux') return { path: directory, close: () => {} };
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  fchmodSync(descriptor, 0o711);
  return { path: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) };
}

/** A directory by a path that is short enough for the address of a Unix socket in it. */
export interface SocketDirectory {
  readonly path: string;
  close(): void;
}

const SOCKET_NAME = '.s.PGSQL.5432';

/** Bytes of a socket's path, its closing zero left out (unix(7); shorter on the BSDs and macOS). */
const LONGEST_SOCKET_PATH = process.platform === 'linux' ? 107 : 103;

/**
 * Gives the path by which this process connects to the socket in a directory: the plain one, or through a descriptor
 * of its own when that is too long for a socket's address.
 * @throws StartupError when it is too long and the system knows no way around
 */
export function openForSocket(directory: string): SocketDirectory {
  if (Buffer.byteLength(join(directory, SOCKET_NAME)) <= LONGEST_SOCKET_PATH) {
    return { path: directory, close: () => {} };
  }
  if (process.platform !== 'linux') {
    throw new StartupError([
      `The path ${directory} is too long for a Unix socket: set LATCHKEY_DATA_DIR to a shorter one.`,
    ]);
  }
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) };
}
