import { constants } from 'node:fs';
import { open, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { StartupError } from '#server/config/startup-error.ts';
import { hasCode } from '#server/lib/error-code.ts';

import type { EmbeddedPostgresLog } from './log.ts';
import { identifyProcess, isPostgresIn, signalProcess } from './processes.ts';

/** A fast shutdown that takes longer is stuck: then PostgreSQL exits at once and recovers at the next start. */
const FAST_SHUTDOWN_MS = 15_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const POLL_INTERVAL_MS = 25;

/** The process id in a cluster's lock file, `postmaster.pid`; null when there is none. */
export async function readPostmasterPid(cluster: string): Promise<number | null> {
  try {
    const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8');
    const pid = Number.parseInt(text, 10);
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** The server that runs on a cluster at this moment; null when none does. */
export async function findPostmaster(cluster: string): Promise<number | null> {
  const pid = await readPostmasterPid(cluster);
  if (pid === null) return null;
  return (await isPostgresIn(pid, await resolveDirectory(cluster))) ? pid : null;
}

/** On Linux by an open descriptor, because a process that gave up root may not enter the directories above. */
async function resolveDirectory(directory: string): Promise<string> {
  if (process.platform !== 'linux') return realpath(directory);
  const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await readlink(`/proc/self/fd/${handle.fd}`);
  } finally {
    await handle.close();
  }
}

/**
 * Stops a server whose service was killed; mostly it is about to stop already. Only for the holder of the data directory.
 * @throws StartupError when it does not go
 */
export async function stopOrphan(cluster: string, log: EmbeddedPostgresLog): Promise<void> {
  const pid = await findPostmaster(cluster);
  if (pid === null) return clearReusedPid(cluster);
  log.warn({ pid }, 'a database server of an earlier run is still there: stopping it');
  signalProcess(pid, 'SIGINT');
  if (await waitForEnd(cluster, FAST_SHUTDOWN_MS)) return;
  signalProcess(pid, 'SIGQUIT');
  if (await waitForEnd(cluster, IMMEDIATE_SHUTDOWN_MS)) return;
  throw new StartupError([
    `The database server of an earlier run, process ${pid}, still uses ${cluster} and does not stop: end it, then start again.`,
  ]);
}

async function waitForEnd(cluster: string, patienceMs: number): Promise<boolean> {
  const deadline = Date.now() + patienceMs;
  while ((await findPostmaster(cluster)) !== null) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_INTERVAL_MS);
  }
  return true;
}

/** After a reboot another process may have the old server's id, and PostgreSQL would take it for the server. */
async function clearReusedPid(cluster: string): Promise<void> {
  const pid = await readPostmasterPid(cluster);
  if (pid === null || (await identifyProcess(pid)) === null) return;
  await rm(join(cluster, 'postmaster.pid'), { force: true });
}
