import { EventEmitter } from 'node:events';

import type { RunnerOptions, Task as RunnableTask, WorkerPool } from 'graphile-worker';

import { attemptJob, type AttemptOptions } from './attempt-job.ts';
import type { Task } from './task.ts';

/** When the process stops, a job under way may finish for this long before it is told to end. */
const STOP_PATIENCE_MS = 5_000;

/**
 * Does one job after another, as long as there are any, by graphile-worker. The package is loaded with the first job,
 * since it takes a tenth of a second and 12 MB.
 */
export class Lane {
  readonly #options: AttemptOptions;
  readonly #tasks: readonly Task[];
  #worker: Promise<(signal: AbortSignal) => Promise<void>> | undefined;
  #running: Promise<void> | null = null;
  readonly #stopping = new AbortController();

  constructor(options: AttemptOptions, tasks: readonly Task[]) {
    this.#options = options;
    this.#tasks = tasks;
  }

  get busy(): boolean {
    return this.#running !== null;
  }

  /** Starts working unless it is already; logs what goes wrong outside the jobs themselves. */
  start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** Waits for the job under way and starts no other. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      this.#worker ??= prepareWorker(this.#options, this.#tasks);
      const work = await this.#worker;
      await work(this.#stopping.signal);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'work on jobs was interrupted');
    }
  }
}

/** Loads the package at the first call; later ones return the same module and read no file. */
export const loadGraphileWorker = () => import('graphile-worker');

/** Gives a function that does every job that is due; when the signal aborts, it ends after the one under way. */
async function prepareWorker(
  options: AttemptOptions,
  tasks: readonly Task[],
): Promise<(signal: AbortSignal) => Promise<void>> {
  const { Logger, runOnce } = await loadGraphileWorker();
  const events = new EventEmitter();
  const settings: RunnerOptions = {
    pgPool: options.pool,
    concurrency: 1,
    noHandleSignals: true,
    gracefulShutdownAbortTimeout: STOP_PATIENCE_MS,
    events,
    // With a delay nobody would wait until a job is marked as done, and the process might end first.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    // It would repeat what attemptJob logs, with the errors' texts unscrubbed.
    logger: new Logger(() => () => {}),
    taskList: Object.fromEntries(tasks.map((task) => [task.name, toRunnable(options, task)])),
  };
  return async (signal) => {
    let pool: WorkerPool | null = null;
    const onCreate = (event: { workerPool: WorkerPool }): void => {
      pool = event.workerPool;
      // Its worker is made after this event.
      if (signal.aborted) setImmediate(() => void stopPool(pool));
    };
    const onAbort = (): void => void stopPool(pool);
    events.once('pool:create', onCreate);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (!signal.aborted) await runOnce(settings);
    } finally {
      signal.removeEventListener('abort', onAbort);
      events.off('pool:create', onCreate);
    }
  };
}

function toRunnable(options: AttemptOptions, task: Task): RunnableTask {
  return (payload, { job, abortSignal }) =>
    attemptJob(options, task, payload, {
      jobId: job.id,
      key: job.key,
      number: job.attempts,
      of: job.max_attempts,
      signal: abortSignal,
    });
}

async function stopPool(pool: WorkerPool | null): Promise<void> {
  try {
    await pool?.gracefulShutdown();
  } catch {
    // Whoever waits for the pool is told the same.
  }
}
