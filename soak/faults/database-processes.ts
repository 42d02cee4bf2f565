/** Faults of the processes of PostgreSQL. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { readPostmasterPid } from '#server/db/embedded/postmaster.ts';
import { signalProcess } from '#server/db/embedded/processes.ts';

import { listProcessesIn } from '../../server/test/embedded-postgres.ts';
import { MESSAGE_NOT_SENT, MESSAGE_UNKNOWN } from '../load/operations.ts';
import { needsLinux, once, type Fault, type FaultTarget } from './fault.ts';

const clusterOf = ({ dataDirectory }: FaultTarget): string => join(dataDirectory, 'postgres');

/** Root without CAP_SYS_PTRACE, as in many containers, cannot read in which directory a process works. */
async function needsVisibleProcesses(target: FaultTarget): Promise<string | null> {
  const obstacle = await needsLinux();
  if (obstacle !== null) return obstacle;
  const pids = await listProcessesIn(clusterOf(target));
  return pids.length === 0 ? 'the processes of PostgreSQL cannot be inspected' : null;
}

export const databaseKilled: Fault = {
  name: 'database killed',
  effect:
    'Kills the main process of PostgreSQL with SIGKILL. The service starts it again, and it recovers.',
  allowed: ['503 database_unavailable', MESSAGE_NOT_SENT, MESSAGE_UNKNOWN],
  recoveryMs: 20_000,
  countInterruptions: once,
  findObstacle: needsLinux,
  async cause(target) {
    const pid = await readPostmasterPid(clusterOf(target));
    if (pid === null) throw new Error('the database does not run');
    signalProcess(pid, 'SIGKILL');
  },
};

export const connectionProcessKilled: Fault = {
  name: 'connection process killed',
  effect:
    'Kills a process of PostgreSQL that serves a connection with SIGKILL. PostgreSQL ends all others and recovers.',
  allowed: ['503 database_unavailable', MESSAGE_NOT_SENT, MESSAGE_UNKNOWN],
  recoveryMs: 20_000,
  countInterruptions: once,
  findObstacle: needsVisibleProcesses,
  async cause(target) {
    for (const pid of await listProcessesIn(clusterOf(target))) {
      // The title of a process that serves a connection contains user and database.
      const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      if (title.startsWith('postgres: latchkey latchkey')) return signalProcess(pid, 'SIGKILL');
    }
    throw new Error('no connection is open');
  },
};

/** Longer than the timeouts of connections (3 s) and statements (5 s) together, so that both are reached. */
const FROZEN_MS = 6_000;

export const databaseFrozen: Fault = {
  name: 'database frozen',
  effect:
    'Stops every process of PostgreSQL for 6 seconds, as when the disk or the storage network stops answering.',
  allowed: ['503 database_unavailable', '503 overloaded', MESSAGE_NOT_SENT, MESSAGE_UNKNOWN],
  recoveryMs: 15_000,
  countInterruptions: once,
  findObstacle: needsVisibleProcesses,
  async cause(target) {
    const pids = await listProcessesIn(clusterOf(target));
    try {
      for (const pid of pids) signalProcess(pid, 'SIGSTOP');
      await sleep(FROZEN_MS);
    } finally {
      for (const pid of pids) signalProcess(pid, 'SIGCONT');
    }
  },
};
