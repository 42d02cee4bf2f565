import { setTimeout as sleep } from 'node:timers/promises';

import { hasCode } from '#server/lib/unknown-values.ts';

import {
  findFileLimitObstacle,
  readFileLimit,
  setFileLimit,
} from '../../server/test/file-limit.ts';
import { TIMEOUT, MESSAGE_NOT_SENT, MESSAGE_UNKNOWN } from '../load/operations.ts';
import { countDescriptors, listWorkers } from '../service/processes.ts';
import type { Fault } from './fault.ts';

const PAUSE_MS = 500;

export const descriptorsExhausted: Fault = {
  name: 'file descriptors exhausted',
  effect:
    'Lowers the limit of open files of the service so that it can open none, while clients connect again and again.',
  // Workers that could not take a connection are replaced; until then, connections wait.
  allowed: [
    'no answer',
    TIMEOUT,
    '503 database_unavailable',
    '503 overloaded',
    MESSAGE_NOT_SENT,
    MESSAGE_UNKNOWN,
  ],
  recoveryMs: 60_000,
  findObstacle: findFileLimitObstacle,
  async cause({ client, holdMs, service }) {
    const { pid } = service;
    if (pid === null) throw new Error('the service does not run');
    const workers = await listWorkers(pid);
    // The supervisor of workers keeps no connection, and needs descriptors to replace them.
    const pids = workers.length > 0 ? workers : [pid];
    const limits = await Promise.all(pids.map(readFileLimit));
    try {
      for (const each of pids)
        await setFileLimit(each, await chooseLimit(each, client.connections));
      for (let ms = 0; ms < holdMs; ms += PAUSE_MS) {
        client.closeFree();
        await sleep(PAUSE_MS);
      }
    } finally {
      for (const [index, each] of pids.entries()) await restore(each, limits[index] ?? 1_024);
    }
  },
};

async function restore(pid: number, limit: number): Promise<void> {
  try {
    await setFileLimit(pid, limit);
  } catch (error) {
    // The worker was replaced.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

const LOWEST_LIMIT = 24;

/** Descriptors are numbered from the lowest free one: a limit without those of clients leaves no number for a new connection. */
async function chooseLimit(pid: number, connections: number): Promise<number> {
  return Math.max(LOWEST_LIMIT, (await countDescriptors(pid)) - connections);
}
