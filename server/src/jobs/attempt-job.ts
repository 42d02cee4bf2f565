import type { Pool } from 'pg';

import { scrub } from '#server/log-scrub.ts';
import type { Logger } from '#server/log.ts';
import type { Metrics } from '#server/metrics.ts';

import { isSuperseded } from './queries.ts';
import type { Task } from './task.ts';

/** One job is given this long; a mail relay or a provider that takes longer is tried again. */
export const MAX_JOB_MS = 120_000;

/** What a try of a job is told about itself. */
export interface Attempt {
  readonly jobId: string;
  readonly key: string | null;
  /** From 1. */
  readonly number: number;
  readonly of: number;
  /** Aborts when the process stops and has waited for long enough. */
  readonly signal: AbortSignal;
}

export interface AttemptOptions {
  readonly pool: Pool;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'countJob'>;
}

/**
 * Tries a job once, within a limit of time, and counts and logs how it went.
 * @throws Error whose message may be stored: without keys and addresses
 */
export async function attemptJob(
  { pool, log, metrics }: AttemptOptions,
  task: Task,
  payload: unknown,
  attempt: Attempt,
): Promise<void> {
  try {
    await withinTime(attempt.signal, (signal) => task.run(payload, signal));
    metrics.countJob(task.name, 'done');
  } catch (error) {
    const about = { job: task.name, jobId: attempt.jobId, attempt: attempt.number, err: error };
    if (attempt.key !== null && (await isSuperseded(pool, attempt.jobId))) {
      if (task.followsItself) {
        metrics.countJob(task.name, 'failed');
        log.error(about, 'a recurring job failed; the next one comes at its time');
      } else {
        log.info(about, 'a job failed that a newer one has replaced');
      }
      return;
    }
    const last = attempt.number >= attempt.of;
    metrics.countJob(task.name, last ? 'given_up' : 'failed');
    if (last) log.error(about, 'a job failed for the last time: see latchkey jobs list');
    else log.warn(about, 'a job failed and will be tried again');
    throw new Error(scrub(error instanceof Error ? error.message : String(error)), {
      cause: error,
    });
  }
}

/** Ends the wait also when the work takes no notice of its signal. */
async function withinTime(
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(MAX_JOB_MS)]);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => {
    reject(new Error(stopping.aborted ? 'the process was stopped' : 'it took too long'));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([work(signal), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
