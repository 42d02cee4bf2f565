import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { StartupError } from '#server/config/startup-error.ts';
import { hasCode } from '#server/lib/unknown-values.ts';

import { isPostgresOf, signalProcess } from './processes.ts';
import type { EmbeddedPostgresLog } from './server-log.ts';

/** Time for a fast shutdown, then for an immediate one, after which the next start recovers. */
const FAST_SHUTDOWN_MS = 15_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const POLL_INTERVAL_MS = 25;

/** Returns the process id in a cluster's lock file, `postmaster.pid`; null if there is no file. */
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

/** Returns the process id of the server that runs on a cluster; null if none does. */
export async function findPostmaster(cluster: string): Promise<number | null> {
  const pid = await readPostmasterPid(cluster);
  return pid !== null && (await isPostgresOf(pid, cluster)) ? pid : null;
}

/**
 * Stops a server whose service was killed; usually its supervisor is stopping it already. Only the holder of the data
 * directory may call this.
 * @throws StartupError when the server does not stop
 */
export async function stopOrphan(cluster: string, log: EmbeddedPostgresLog): Promise<void> {
  const pid = await findPostmaster(cluster);
  if (pid === null) return await removeStaleLockFile(cluster);
  log.warn(
    { event: 'postgres.orphan_found', pid },
    'stopping the database server of an earlier run',
  );
  signalProcess(pid, 'SIGINT');
  if (await endsWithin(cluster, FAST_SHUTDOWN_MS)) return;
  signalProcess(pid, 'SIGQUIT');
  if (await endsWithin(cluster, IMMEDIATE_SHUTDOWN_MS)) return;
  throw new StartupError([
    `The database server of an earlier run, process ${pid}, still uses ${cluster} and does not stop: end it, then start again.`,
  ]);
}

async function endsWithin(cluster: string, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while ((await findPostmaster(cluster)) !== null) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_INTERVAL_MS);
  }
  return true;
}

/**
 * Removes the lock file of a server that has ended. PostgreSQL refuses to start when the process id in it is that of any
 * process; in a container, ids begin at 1 again and are soon reused. While processes of the former server are attached
 * to its shared memory, PostgreSQL refuses to start without the file, too.
 */
async function removeStaleLockFile(cluster: string): Promise<void> {
  await rm(join(cluster, 'postmaster.pid'), { force: true });
}
