import type { Pool } from 'pg';

import { messageOf } from '#server/lib/error-message.ts';
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
  options: AttemptOptions,
  task: Task,
  payload: unknown,
  attempt: Attempt,
): Promise<void> {
  try {
    await withinTime(attempt.signal, (signal) => task.run(payload, signal));
  } catch (error) {
    return settleFailure(options, task, attempt, error);
  }
  options.metrics.countJob(task.name, 'done');
}

/** Throws what is to be stored of the failure, unless another job has taken the place of this one. */
async function settleFailure(
  { pool, log, metrics }: AttemptOptions,
  task: Task,
  attempt: Attempt,
  error: unknown,
): Promise<void> {
  const about = { job: task.name, jobId: attempt.jobId, attempt: attempt.number, err: error };
  if (await isReplaced({ pool, log }, attempt)) {
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
  throw new Error(scrub(messageOf(error)), { cause: error });
}

/** A database that cannot say must not hide why the job itself failed. */
async function isReplaced(
  { pool, log }: Pick<AttemptOptions, 'pool' | 'log'>,
  { key, jobId }: Attempt,
): Promise<boolean> {
  if (key === null) return false;
  try {
    return await isSuperseded(pool, jobId);
  } catch (error) {
    log.warn({ jobId, err: error }, 'it cannot be told whether a failed job was replaced');
    return false;
  }
}

/** Stops waiting at the signal even when the work ignores it. */
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
