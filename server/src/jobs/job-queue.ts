import type { Pool } from 'pg';
import { Parse } from 'typebox/schema';

import { messageOf } from '#server/lib/unknown-values.ts';
import { exponentialDelayMs } from '#server/lib/retry-delay.ts';
import { scrub } from '#server/log-scrub.ts';
import type { Logger } from '#server/log.ts';
import type { Metrics } from '#server/metrics.ts';

import { TaskObserver, type BackgroundTask } from './background-task.ts';
import { jobDefinitions, type JobName, type JobPayload } from './job-definitions.ts';
import {
  claimJobs,
  deleteJob,
  recordFailure,
  rescheduleSingleton,
  type ClaimedJob,
} from './queries.ts';
import type { WorkQueue } from './work-queue.ts';

/** How a kind of job runs. */
export interface JobHandler {
  readonly name: JobName;
  /**
   * Does a job; when it throws, the job is retried, so it must be repeatable.
   * @param signal aborts at the time limit, and when the process stops
   */
  readonly run: (payload: unknown, signal: AbortSignal) => Promise<void>;
}

/** Declares how a kind of job runs. */
export function defineJobHandler<Name extends JobName>(
  name: Name,
  run: (payload: JobPayload<Name>, signal: AbortSignal) => Promise<void>,
): JobHandler {
  const schema: (typeof jobDefinitions)[Name]['payload'] = jobDefinitions[name].payload;
  return { name, run: async (payload, signal) => run(Parse(schema, payload), signal) };
}

export interface JobQueueOptions {
  readonly pool: Pool;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'countJob' | 'countTask'>;
  readonly handlers: readonly JobHandler[];
  /** Tasks that one process at a time runs. */
  readonly singletons: readonly BackgroundTask[];
  readonly pollIntervalMs?: number;
}

/** Jobs that run at the same time. Each holds at most one connection of the pool. */
const MAX_CONCURRENT = 2;

/** The time limit of a job or of a run of a singleton. */
const JOB_TIMEOUT_MS = 120_000;

/** A job whose process was killed runs again after this time. */
const LEASE_MS = 2 * JOB_TIMEOUT_MS;

/** Creates the queue of jobs and singleton tasks. */
export function createJobQueue(options: JobQueueOptions): WorkQueue<ClaimedJob> {
  const { pool, log, pollIntervalMs } = options;
  const processors = new Map<string, Processor>([
    ...options.handlers.map(
      (handler) => [handler.name, createJobProcessor(options, handler)] as const,
    ),
    ...options.singletons.map(
      (task) => [task.name, createSingletonProcessor(options, task)] as const,
    ),
  ]);
  const names = [...processors.keys()];
  return {
    name: 'jobs',
    event: 'jobs.claim',
    action: 'claim jobs',
    ...(pollIntervalMs !== undefined && { pollIntervalMs }),
    async claim(inProgress) {
      const free = MAX_CONCURRENT - inProgress.size;
      if (free <= 0) return [];
      const jobs = await claimJobs(pool, names, free, LEASE_MS);
      for (const { id: jobId, name: job } of jobs.filter(({ isAbandoned }) => isAbandoned)) {
        log.warn({ event: 'jobs.lease_expired', job, jobId }, 'retrying a job of a killed process');
      }
      return jobs;
    },
    async process(job, signal) {
      try {
        await processors.get(job.name)?.(job, signal);
      } catch (error) {
        const fields = { event: 'jobs.outcome_lost', job: job.name, jobId: job.id, err: error };
        log.warn(fields, 'could not store the outcome of a job; it will run again');
      }
    },
  };
}

/** Runs a job once and stores the outcome. It throws when the outcome cannot be stored. */
type Processor = (job: ClaimedJob, stopping: AbortSignal) => Promise<void>;

function createJobProcessor(options: JobQueueOptions, { name, run }: JobHandler): Processor {
  return async (job, stopping) => {
    try {
      await withinTimeLimit(stopping, (signal) => run(job.payload, signal));
    } catch (error) {
      return settleFailure(options, job, error);
    }
    options.metrics.countJob(name, 'done');
    await deleteJob(options.pool, job);
  };
}

async function settleFailure(
  { pool, log, metrics }: JobQueueOptions,
  job: ClaimedJob,
  error: unknown,
): Promise<void> {
  const { name, attempts, maxAttempts } = job;
  const fields = { job: name, jobId: job.id, attempt: attempts, err: error };
  const delayMs = exponentialDelayMs(attempts, Math.random());
  const storing = recordFailure(pool, job, scrub(messageOf(error)), delayMs);
  // A database that is away must not hide why the job failed.
  const isReplaced = await storing.then((isStored) => !isStored).catch(() => false);
  if (isReplaced) {
    log.info(
      { event: 'jobs.replaced_job_failed', ...fields },
      'a job failed after it was replaced',
    );
  } else if (attempts >= maxAttempts) {
    metrics.countJob(name, 'given_up');
    const message = 'a job exhausted its attempts: see latchkey jobs list';
    log.error({ event: 'jobs.given_up', ...fields }, message);
  } else {
    metrics.countJob(name, 'failed');
    log.warn({ event: 'jobs.attempt_failed', ...fields }, 'a job failed; retrying later');
  }
  await storing;
}

/** Schedules the next run after the interval, also after a failure. */
function createSingletonProcessor(options: JobQueueOptions, task: BackgroundTask): Processor {
  const { pool, metrics } = options;
  const observer = new TaskObserver(task, options);
  return async (job, stopping) => {
    let delayMs = task.intervalMs;
    let failure: string | null = null;
    try {
      delayMs = (await withinTimeLimit(stopping, task.run)) ?? delayMs;
      metrics.countJob(task.name, 'done');
      observer.succeeded();
    } catch (error) {
      failure = scrub(messageOf(error));
      metrics.countJob(task.name, 'failed');
      if (!stopping.aborted) observer.failed(error);
    }
    await rescheduleSingleton(pool, job, failure, delayMs);
  };
}

/** Stops waiting at the time limit or at the stop even when the work ignores its signal. */
async function withinTimeLimit<Result>(
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(JOB_TIMEOUT_MS)]);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => {
    reject(new Error(stopping.aborted ? 'the process was stopped' : 'it exceeded its time limit'));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(signal), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
