import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { createDirectory, diskFull, isDiskFull } from '#server/config/data-directory.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { codeOf, hasCode } from '#server/lib/unknown-values.ts';

import { readStartTime } from './processes.ts';

/** The lock of a data directory, which allows running a database in it. */
export interface OwnerLock {
  release(): Promise<void>;
}

/** Time to wait for a command that uses the database for a short time. */
const WAIT_MS = 2_000;
const POLL_INTERVAL_MS = 50;

/** Time between the creation of a lock file and its content. */
const WRITING_MS = 500;

/**
 * Locks the data directory for this process, and creates it if missing. A lock whose process has ended (killed, or from
 * before a reboot) is taken over. If two processes take over at the same time, PostgreSQL's own lock still limits the
 * cluster to one server.
 * @param waitMs how long to wait for the owner of the lock
 * @throws StartupError when another process owns the lock, or the directory is not writable
 */
export async function lockDataDirectory(
  dataDirectory: string,
  waitMs = WAIT_MS,
): Promise<OwnerLock> {
  createDataDirectory(dataDirectory);
  const file = lockFile(dataDirectory);
  const mine = `${process.pid} ${await readStartTime(process.pid)}\n`;
  const startedAt = Date.now();
  let emptySince: number | null = null;
  while (!(await tryCreate(file, mine))) {
    const holder = await readHolder(file);
    emptySince = holder === '' ? (emptySince ?? Date.now()) : null;
    const abandoned = emptySince !== null && Date.now() - emptySince > WRITING_MS;
    if (abandoned || (holder !== '' && !(await isHeld(holder)))) await rm(file, { force: true });
    else if (Date.now() - startedAt > waitMs) throw inUse(dataDirectory, parseHolder(holder).pid);
    else await sleep(POLL_INTERVAL_MS);
  }
  return { release: () => release(file) };
}

/**
 * Returns the error with which {@link lockDataDirectory} would fail if another process owns the lock; null: it would not.
 * Changes nothing.
 */
export async function findOwner(dataDirectory: string): Promise<StartupError | null> {
  const pid = await findOwnerPid(dataDirectory);
  return pid === null ? null : inUse(dataDirectory, pid);
}

/** Returns the process that owns the lock; null if none does. */
export async function findOwnerPid(dataDirectory: string): Promise<number | null> {
  try {
    const holder = await readHolder(lockFile(dataDirectory));
    return holder !== '' && (await isHeld(holder)) ? parseHolder(holder).pid : null;
  } catch (error) {
    // The start then reports the directory itself.
    if (['EACCES', 'ENOTDIR'].includes(codeOf(error) ?? '')) return null;
    throw error;
  }
}

function lockFile(dataDirectory: string): string {
  return join(dataDirectory, 'latchkey.lock');
}

async function release(file: string): Promise<void> {
  try {
    await rm(file, { force: true });
  } catch (error) {
    // A process that dropped root cannot remove it: the lock is taken over after the process has ended.
    if (!hasCode(error, 'EACCES')) throw error;
  }
}

function createDataDirectory(dataDirectory: string): void {
  try {
    createDirectory(dataDirectory);
  } catch (error) {
    throw notWritable(dataDirectory, error);
  }
}

async function tryCreate(file: string, content: string): Promise<boolean> {
  try {
    await writeFile(file, content, { flag: 'wx', mode: 0o644 });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw notWritable(dirname(file), error);
  }
}

async function readHolder(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}

async function isHeld(holder: string): Promise<boolean> {
  const { pid, startedAt } = parseHolder(holder);
  return (await readStartTime(pid)) === startedAt;
}

function parseHolder(holder: string): { pid: number; startedAt: string } {
  const end = holder.indexOf(' ');
  return { pid: Number(holder.slice(0, end)), startedAt: holder.slice(end + 1) };
}

function inUse(dataDirectory: string, pid: number): StartupError {
  return new StartupError([
    `The data directory ${dataDirectory} is in use by another Latchkey, process ${pid}: stop that one first, or give this one a directory of its own with LATCHKEY_DATA_DIR.`,
  ]);
}

function notWritable(dataDirectory: string, error: unknown): StartupError {
  if (isDiskFull(error)) return diskFull(dataDirectory, error);
  const reason = codeOf(error) ?? String(error);
  return new StartupError(
    [
      `The data directory ${dataDirectory} cannot be written (${reason}): make it writable, or name another one in LATCHKEY_DATA_DIR.`,
    ],
    { cause: error },
  );
}
