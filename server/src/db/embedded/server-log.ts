import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

import { StartupError } from '#server/config/startup-error.ts';
import { hasCode } from '#server/lib/error-code.ts';

import type { Account } from './system-accounts.ts';

/** The file for what PostgreSQL itself says. */
export interface ServerLog {
  readonly path: string;
  readonly descriptor: number;
  /** The lines since the log was opened, its newest 4 KiB at most. */
  readTail(): Promise<string>;
  close(): void;
}

const NAME = 'postgres.log';
const LARGEST_BYTES = 8 * 1024 * 1024;
const CHECK_INTERVAL_MS = 60_000;
const TAIL_BYTES = 4096;
const COPY_BYTES = 256 * 1024;

/**
 * Opens the server's log in a data directory, and keeps it and its one predecessor below 8 MiB each.
 * @param heldDirectory the same directory by a path that stays usable when this process gives up root
 * @param account the one that the process gives up root for, which then owns both files; null when it does not
 */
export function openServerLog(
  dataDirectory: string,
  heldDirectory = dataDirectory,
  account: Account | null = null,
): ServerLog {
  const path = join(heldDirectory, NAME);
  const descriptor = openPlainFile(path);
  if (account !== null) shareWith(account, path, descriptor);
  const openedAt = fstatSync(descriptor).size;
  const timer = setInterval(() => keepShort(path, descriptor), CHECK_INTERVAL_MS);
  timer.unref();
  keepShort(path, descriptor);
  return {
    path: join(dataDirectory, NAME),
    descriptor,
    readTail: async () => readTail(descriptor, openedAt),
    close() {
      clearInterval(timer);
      closeSync(descriptor);
    },
  };
}

/** The account cannot create files beside the log, so the predecessor is created for it. */
function shareWith({ uid, gid }: Account, path: string, descriptor: number): void {
  const predecessor = openPlainFile(`${path}.1`);
  fchownSync(predecessor, uid, gid);
  closeSync(predecessor);
  fchownSync(descriptor, uid, gid);
}

/**
 * Opens a file to append to and to read. Root opens it, and whoever may write to the data directory could have put a link to
 * a file of root's in its place.
 * @throws StartupError when it is a link, or a file with a second name
 */
function openPlainFile(path: string): number {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  try {
    const descriptor = openSync(path, flags, 0o600);
    const found = fstatSync(descriptor);
    if (found.isFile() && found.nlink === 1) return descriptor;
    closeSync(descriptor);
  } catch (error) {
    if (!hasCode(error, 'ELOOP')) throw error;
  }
  throw new StartupError([`${path} is no plain file of its own but a link: remove it.`]);
}

/** The server keeps its descriptor, which appends: the file is copied and emptied, not moved. */
function keepShort(path: string, descriptor: number): void {
  const { size } = fstatSync(descriptor);
  if (size <= LARGEST_BYTES) return;
  const predecessor = openPlainFile(`${path}.1`);
  try {
    ftruncateSync(predecessor);
    copyBytes(descriptor, predecessor, size);
  } finally {
    closeSync(predecessor);
  }
  ftruncateSync(descriptor);
}

function copyBytes(from: number, to: number, bytes: number): void {
  const buffer = Buffer.alloc(COPY_BYTES);
  for (let position = 0; position < bytes;) {
    const read = readSync(from, buffer, 0, COPY_BYTES, position);
    if (read === 0) return;
    writeSync(to, buffer, 0, read);
    position += read;
  }
}

function readTail(descriptor: number, openedAt: number): string {
  const { size } = fstatSync(descriptor);
  const from = Math.max(openedAt > size ? 0 : openedAt, size - TAIL_BYTES);
  const buffer = Buffer.alloc(TAIL_BYTES);
  return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, TAIL_BYTES, from));
}
