/** Deadlines of a worker's start and end, after which it is killed. */
import type { Logger } from '#server/log.ts';

import type { WorkerProcess } from './worker-process.ts';

type Log = Pick<Logger, 'error'>;

/** A start takes seconds, on a busy machine up to a minute. */
const START_DEADLINE_MS = 5 * 60_000;
const CHECK_INTERVAL_MS = 10_000;

/** 10 s for requests, then 10 s for background work. */
const STOP_DEADLINE_MS = 22_000;

/** The same after the 5 s in which clients leave the worker, and the 55 s that an outreach request may take. */
const RETIRE_DEADLINE_MS = 90_000;

/**
 * Kills a worker that does not listen in time. Migrations do not count: the statements of one have a time limit
 * (`db/migrate.ts`). Counts intervals, not time: a pause of this process is none of the worker.
 */
export function limitStart(worker: WorkerProcess, log: Log): void {
  let spentMs = 0;
  const timer = setInterval(() => {
    if (!worker.isMigrating) spentMs += CHECK_INTERVAL_MS;
    if (spentMs < START_DEADLINE_MS) return;
    stop();
    kill(worker, log, 'worker.start_timeout', 'worker did not start in time: killing it');
  }, CHECK_INTERVAL_MS);
  timer.unref();
  const stop = (): void => clearInterval(timer);
  worker.ready.then(stop, stop);
}

/** Waits for the end of a worker that was asked to stop. */
export function endStopped(worker: WorkerProcess, log: Log): Promise<void> {
  return endInTime(worker, STOP_DEADLINE_MS, log);
}

/** Waits for the end of a worker that was asked to retire. */
export function endRetired(worker: WorkerProcess, log: Log): Promise<void> {
  return endInTime(worker, RETIRE_DEADLINE_MS, log);
}

async function endInTime(worker: WorkerProcess, deadlineMs: number, log: Log): Promise<void> {
  const timer = setTimeout(() => {
    kill(worker, log, 'worker.stop_timeout', 'worker did not stop in time: killing it');
  }, deadlineMs);
  await worker.ended;
  clearTimeout(timer);
}

function kill(worker: WorkerProcess, log: Log, event: string, message: string): void {
  log.error({ event, worker: worker.number, pid: worker.pid }, message);
  worker.kill('SIGKILL');
}
