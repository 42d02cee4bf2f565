import type { Logger } from '#server/log.ts';

import type { WorkerProcess } from './worker-process.ts';

const PING_INTERVAL_MS = 10_000;

/** Pings in a row without any message from the worker, after which it is killed: it has not run its event loop for a minute. */
const MAX_UNANSWERED = 6;

/**
 * Kills a worker that hangs, also one that starts, migrates or ends, and one that requests more than it reads. Counts pings, not
 * time: after a pause of this process the worker still has a minute.
 */
export function killWhenHung(worker: WorkerProcess, log: Pick<Logger, 'error'>): void {
  const { channel } = worker;
  const kill = (event: string, message: string): void => {
    log.error({ event, worker: worker.number, pid: worker.pid }, message);
    worker.kill('SIGKILL');
  };
  let received = channel.received;
  let unanswered = 0;
  const ping = (): void => {
    // An answer that reports an error, as of a version that does not know the ping, is one too: `received` counts it.
    channel.request('ping', null, PING_INTERVAL_MS).catch(() => {});
  };
  const timer = setInterval(() => {
    unanswered = channel.received === received ? unanswered + 1 : 0;
    received = channel.received;
    if (unanswered < MAX_UNANSWERED) {
      ping();
      return;
    }
    kill('worker.hung', 'worker does not answer: killing it');
  }, PING_INTERVAL_MS);
  timer.unref();
  ping();
  void worker.ended.then(() => clearInterval(timer));
  const message = 'worker requests more than it reads: killing it';
  void worker.stoppedReading.then(() => kill('worker.stopped_reading', message));
}
