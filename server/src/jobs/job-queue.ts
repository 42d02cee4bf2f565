import type { Pool } from 'pg';
import { Parse } from 'typebox/schema';

import { messageOf } from '#server/lib/unknown-values.ts';
import { exponentialDelayMs } from '#server/lib/retry-delay.ts';
import { scrub } from '#server/log-scrub.ts';
import type { Logger } from '#server/log.ts';
import type { Metrics } from '#server/metrics.ts';

import {
  DEFAULT_TIMEOUT_MS,
  runTask,
  TaskObserver,
  type BackgroundTask,
} from './background-task.ts';
import { jobDefinitions, type JobName, type JobPayload } from './job-definitions.ts';
import {
  claimJobs,
  deleteJob,
  recordFailure,
  rescheduleSingleton,
  type ClaimedJob,
  type LeasedKind,
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

const JOB_TIMEOUT_MS = 120_000;

/** How much longer than its time limit a job is leased, so that aborted work can end before another process repeats it. */
const LEASE_MARGIN_MS = 120_000;

/** How long aborted work may take to end at a stop. */
const STOP_LIMIT_MS = 2_000;

/** Creates the queue of jobs and singleton tasks. */
export function createJobQueue(options: JobQueueOptions): WorkQueue<ClaimedJob> {
  const { pool, log, pollIntervalMs } = options;
  const kinds = [
    ...options.handlers.map((handler) => createJobKind(options, handler)),
    ...options.singletons.map((task) => createSingletonKind(options, task)),
  ];
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  return {
    name: 'jobs',
    event: 'jobs.claim',
    action: 'claim jobs',
    ...(pollIntervalMs !== undefined && { pollIntervalMs }),
    async claim(inProgress) {
      const free = MAX_CONCURRENT - inProgress.size;
      if (free <= 0) return [];
      const jobs = await claimJobs(pool, kinds, free);
      for (const { id: jobId, name: job } of jobs.filter(({ isAbandoned }) => isAbandoned)) {
        log.warn({ event: 'jobs.lease_expired', job, jobId }, 'retrying a job of a killed process');
      }
      return jobs;
    },
    async process(job, signal) {
      try {
        await byName.get(job.name)?.process(job, signal);
      } catch (error) {
        const fields = { event: 'jobs.outcome_lost', job: job.name, jobId: job.id, err: error };
        log.warn(fields, 'could not store the outcome of a job; it will run again');
      }
    },
  };
}

interface JobKind extends LeasedKind {
  /** Runs a job once and stores the outcome. It throws when the outcome cannot be stored. */
  readonly process: (job: ClaimedJob, stopping: AbortSignal) => Promise<void>;
}

function createJobKind(options: JobQueueOptions, { name, run }: JobHandler): JobKind {
  const leaseMs = JOB_TIMEOUT_MS + LEASE_MARGIN_MS;
  return {
    name,
    leaseMs,
    async process(job, stopping) {
      const timeout = AbortSignal.timeout(JOB_TIMEOUT_MS);
      const startedAt = performance.now();
      try {
        const work = run(job.payload, AbortSignal.any([stopping, timeout]));
        await waitWhileLeased(work, leaseMs, stopping);
      } catch (error) {
        if (error instanceof UnendedWorkError) throw error;
        const tookMs = performance.now() - startedAt;
        return settleFailure(options, job, timeout.aborted ? timeout.reason : error, tookMs);
      }
      options.metrics.countJob(name, 'done');
      await deleteJob(options.pool, job);
    },
  };
}

async function settleFailure(
  { pool, log, metrics }: JobQueueOptions,
  job: ClaimedJob,
  error: unknown,
  tookMs: number,
): Promise<void> {
  const { name, attempts, maxAttempts } = job;
  const fields = { job: name, jobId: job.id, attempt: attempts, err: error };
  const delayMs = exponentialDelayMs(attempts, Math.random());
  const storing = recordFailure(pool, job, {
    error: scrub(messageOf(error)),
    delayMs,
    tookMs,
  });
  // An unavailable database must not hide why the job failed.
  const isReplaced = await storing.then((isStored) => !isStored).catch(() => false);
  if (isReplaced) {
    log.info(
      { event: 'jobs.replaced_job_failed', ...fields },
      'a job failed after it was replaced',
    );
  } else if (attempts >= maxAttempts) {
    metrics.countJob(name, 'exhausted');
    const message = 'a job exhausted its attempts: see latchkey jobs list';
    log.error({ event: 'jobs.exhausted', ...fields }, message);
  } else {
    metrics.countJob(name, 'failed');
    log.warn({ event: 'jobs.attempt_failed', ...fields }, 'a job failed; retrying later');
  }
  await storing;
}

/** Schedules the next run after the interval, also after a failure. */
function createSingletonKind(options: JobQueueOptions, task: BackgroundTask): JobKind {
  const { name, timeoutMs = DEFAULT_TIMEOUT_MS } = task;
  const leaseMs = timeoutMs + LEASE_MARGIN_MS;
  const observer = new TaskObserver(task, options);
  return {
    name,
    leaseMs,
    async process(job, stopping) {
      const startedAt = performance.now();
      const run = runTask(task, observer, stopping);
      const { delayMs, error } = await waitWhileLeased(run, leaseMs, stopping);
      const failure = error === undefined ? null : scrub(messageOf(error));
      const tookMs = performance.now() - startedAt;
      await rescheduleSingleton(options.pool, job, { error: failure, delayMs, tookMs });
    },
  };
}

/** The lease of work that did not end stays until it expires, so that no other process repeats the work beside it. */
class UnendedWorkError extends Error {}

/**
 * Waits for work to end, also after its time limit; at most as long as its lease, and at a stop for {@link STOP_LIMIT_MS}
 * after it was aborted.
 */
async function waitWhileLeased<Result>(
  work: Promise<Result>,
  leaseMs: number,
  stopping: AbortSignal,
): Promise<Result> {
  const { promise: unended, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(new UnendedWorkError('it did not end after it was aborted'));
  const leaseTimer = setTimeout(giveUp, leaseMs);
  let stopTimer: NodeJS.Timeout | undefined;
  const onStop = (): void => {
    stopTimer = setTimeout(giveUp, STOP_LIMIT_MS);
  };
  stopping.addEventListener('abort', onStop, { once: true });
  try {
    return await Promise.race([work, unended]);
  } finally {
    stopping.removeEventListener('abort', onStop);
    clearTimeout(leaseTimer);
    clearTimeout(stopTimer);
  }
}
