import { closeSync, copyFileSync, fchownSync, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

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
  const descriptor = openSync(path, 'a', 0o600);
  if (account !== null) shareWith(account, path, descriptor);
  const openedAt = fstatSync(descriptor).size;
  const timer = setInterval(() => keepShort(path, descriptor), CHECK_INTERVAL_MS);
  timer.unref();
  keepShort(path, descriptor);
  return {
    path: join(dataDirectory, NAME),
    descriptor,
    readTail: () => readTail(path, openedAt),
    close() {
      clearInterval(timer);
      closeSync(descriptor);
    },
  };
}

/** The account cannot create files beside the log, so the predecessor is created for it. */
function shareWith({ uid, gid }: Account, path: string, descriptor: number): void {
  const predecessor = openSync(`${path}.1`, 'a', 0o600);
  fchownSync(predecessor, uid, gid);
  closeSync(predecessor);
  fchownSync(descriptor, uid, gid);
}

/** The server keeps its descriptor, which appends: the file is copied and emptied, not moved. */
function keepShort(path: string, descriptor: number): void {
  if (fstatSync(descriptor).size <= LARGEST_BYTES) return;
  copyFileSync(path, `${path}.1`);
  ftruncateSync(descriptor);
}

async function readTail(path: string, openedAt: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const from = Math.max(openedAt > size ? 0 : openedAt, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(TAIL_BYTES),
      position: from,
    });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
