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
import { hasCode } from '#server/lib/unknown-values.ts';

import type { Account } from './account.ts';

/** Where the service logs about the embedded server. */
export interface EmbeddedPostgresLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** PostgreSQL's own log file. */
export interface ServerLog {
  readonly path: string;
  readonly descriptor: number;
  /** Returns the lines since the log was opened, the newest 4 KiB at most. */
  readTail(): string;
  close(): void;
}

const NAME = 'postgres.log';
const MAX_BYTES = 8 * 1024 * 1024;
const CHECK_INTERVAL_MS = 60_000;
const TAIL_BYTES = 4096;
const COPY_BYTES = 256 * 1024;

/**
 * Opens the server's log in a data directory, and rotates it at 8 MiB; one old file is kept.
 * @param openDirectory the directory by a path that this process can use after dropping root
 * @param successor the account for which this process drops root, which becomes the files' owner
 */
export function openServerLog(
  dataDirectory: string,
  openDirectory = dataDirectory,
  successor: Account | null = null,
): ServerLog {
  const path = join(openDirectory, NAME);
  const descriptor = openPlainFile(path);
  if (successor !== null) changeOwner(successor, path, descriptor);
  const openedAt = fstatSync(descriptor).size;
  const timer = setInterval(() => rotate(path, descriptor), CHECK_INTERVAL_MS);
  timer.unref();
  rotate(path, descriptor);
  return {
    path: join(dataDirectory, NAME),
    descriptor,
    readTail: () => readTail(descriptor, openedAt),
    close() {
      clearInterval(timer);
      closeSync(descriptor);
    },
  };
}

/** The account cannot create files in the directory, so the rotated file is created for it. */
function changeOwner({ uid, gid }: Account, path: string, descriptor: number): void {
  const rotated = openPlainFile(`${path}.1`);
  fchownSync(rotated, uid, gid);
  closeSync(rotated);
  fchownSync(descriptor, uid, gid);
}

/**
 * Opens a file for appending and reading. Root opens it, and an account that can write to the data directory could have
 * replaced it by a link to a file of root's.
 * @throws StartupError when it is a symbolic link or has a second hard link
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

/** Copies and truncates the file: the server keeps its descriptor, which appends. */
function rotate(path: string, descriptor: number): void {
  const { size } = fstatSync(descriptor);
  if (size <= MAX_BYTES) return;
  const rotated = openPlainFile(`${path}.1`);
  try {
    ftruncateSync(rotated);
    copyBytes(descriptor, rotated, size);
  } finally {
    closeSync(rotated);
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
