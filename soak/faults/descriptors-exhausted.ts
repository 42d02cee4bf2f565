import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { countDescriptors, listWorkers } from '../service/processes.ts';
import type { Fault } from './fault.ts';

const run = promisify(execFile);

const PAUSE_MS = 500;

export const descriptorsExhausted: Fault = {
  name: 'file descriptors exhausted',
  effect:
    'Lowers the limit of open files of the service so that it can open none, while clients connect again and again.',
  allowed: ['no answer', '503 database_unavailable', '503 overloaded'],
  recoveryMs: 15_000,
  async findObstacle() {
    try {
      await run('prlimit', ['--version']);
      return null;
    } catch {
      return 'prlimit of util-linux is not installed';
    }
  },
  async cause({ client, holdMs, service }) {
    const { pid } = service;
    if (pid === null) throw new Error('the service does not run');
    const pids = [pid, ...(await listWorkers(pid))];
    const limits = await Promise.all(pids.map(readLimit));
    try {
      for (const each of pids) await setLimit(each, await chooseLimit(each, client.connections));
      for (let ms = 0; ms < holdMs; ms += PAUSE_MS) {
        client.closeFree();
        await sleep(PAUSE_MS);
      }
    } finally {
      for (const [index, each] of pids.entries()) await setLimit(each, limits[index] ?? 1_024);
    }
  },
};

const LOWEST_LIMIT = 24;

/** Descriptors are numbered from the lowest free one: a limit without those of clients leaves no number for a new connection. */
async function chooseLimit(pid: number, connections: number): Promise<number> {
  return Math.max(LOWEST_LIMIT, (await countDescriptors(pid)) - connections);
}

async function readLimit(pid: number): Promise<number> {
  return Number(await runPrlimit(pid, ['--nofile', '--output', 'SOFT', '--noheadings']));
}

/** Sets the soft limit; the hard limit stays. */
async function setLimit(pid: number, limit: number): Promise<void> {
  await runPrlimit(pid, [`--nofile=${limit}:`]);
}

/** Runs it as the owner of the process: root would need CAP_SYS_RESOURCE, which containers lack. */
async function runPrlimit(pid: number, args: readonly string[]): Promise<string> {
  const { gid, uid } = await stat(`/proc/${pid}`);
  return (await run('prlimit', ['--pid', String(pid), ...args], { gid, uid })).stdout;
}
