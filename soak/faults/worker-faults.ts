/** Faults of the workers of a service that runs with `--workers`. */
import { setTimeout as sleep } from 'node:timers/promises';

import { signalProcess } from '#server/db/embedded/processes.ts';

import { TIMEOUT, MESSAGE_UNKNOWN } from '../load/operations.ts';
import { listWorkers } from '../service/processes.ts';
import { once, type Fault, type FaultTarget } from './fault.ts';

async function findObstacle({ service, workers }: FaultTarget): Promise<string | null> {
  if (workers === null) return 'the service runs without workers (--workers 0)';
  const running = service.pid === null ? [] : await listWorkers(service.pid);
  return running.length > 0 ? null : 'the service has no worker processes';
}

/** Returns a list of the workers. @throws Error when the service does not run */
async function findWorkers({ service }: FaultTarget): Promise<readonly [number, ...number[]]> {
  const [first, ...others] = service.pid === null ? [] : await listWorkers(service.pid);
  if (first === undefined) throw new Error('no worker runs');
  return [first, ...others];
}

export const workerKilled: Fault = {
  name: 'worker killed',
  effect: 'Kills one worker of the service with SIGKILL. The supervisor replaces it.',
  // A connection that was being passed to the worker stays open without an answer.
  allowed: ['no answer', TIMEOUT, MESSAGE_UNKNOWN],
  recoveryMs: 30_000,
  countInterruptions: once,
  findObstacle,
  async cause(target) {
    const [worker] = await findWorkers(target);
    signalProcess(worker, 'SIGKILL');
    await waitForNewWorkers(target, [worker]);
  },
};

/** Workers start one after the other; each may take as long as a start of the service. */
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/** Waits until as many workers run as should, none of them an old one. @throws Error after a minute for each old one */
async function waitForNewWorkers(
  { service, workers }: FaultTarget,
  old: readonly number[],
): Promise<void> {
  const deadline = performance.now() + old.length * START_TIMEOUT_MS;
  const isReplaced = async (): Promise<boolean> => {
    const running = service.pid === null ? [] : await listWorkers(service.pid);
    return running.length === workers && !running.some((pid) => old.includes(pid));
  };
  while (!(await isReplaced())) {
    if (performance.now() > deadline) throw new Error('the workers were not replaced in time');
    await sleep(POLL_MS);
  }
}

export const workersReplaced: Fault = {
  name: 'workers replaced',
  effect: 'Has the supervisor replace all workers one by one (SIGUSR2), as for a new version.',
  allowed: [],
  recoveryMs: 10_000,
  findObstacle,
  async cause(target) {
    const before = await findWorkers(target);
    if (target.service.pid !== null) signalProcess(target.service.pid, 'SIGUSR2');
    await waitForNewWorkers(target, before);
  },
};
