import type { Pool } from 'pg';

import { MAX_JOB_MS, type AttemptOptions } from './attempt-job.ts';
import type { Backlog } from './count-backlog.ts';
import { Lane } from './lane.ts';
import { countDueJobs, releaseAbandonedJobs } from './queries.ts';
import type { Task } from './task.ts';

export interface JobsOptions extends AttemptOptions {
  readonly tasks: readonly Task[];
  /** Asked at the start, and then once a minute. */
  readonly countBacklog: () => Promise<Backlog>;
  /** How often to look for jobs that are due. */
  readonly pollIntervalMs?: number;
}

/** Jobs that are being done in this process. */
export interface RunningJobs {
  /** The last count, at most a minute old while the database answers; null before the first. */
  backlog(): Backlog | null;
  /** Starts no more jobs and waits for those under way; after some seconds it tells them to end. */
  stop(): Promise<void>;
}

const POLL_INTERVAL_MS = 1_000;

/** Jobs done at the same time. Each holds at most one connection of the pool, and none while it waits for something else. */
const MAX_CONCURRENT = 2;

/** How often jobs are counted, and those of killed processes released. */
const UPKEEP_INTERVAL_MS = 60_000;

/** Whoever began a job this long ago is gone. */
const ABANDONED_AFTER_MS = 2 * MAX_JOB_MS;

/**
 * Does the jobs in the database until it is stopped, alongside other processes that do the same. It polls, because
 * PostgreSQL's notifications do not pass a pooler in transaction mode, and goes on polling while the database is away.
 */
export function startJobs(options: JobsOptions): RunningJobs {
  const jobs = new JobLoop(options);
  jobs.scheduleNextLook();
  return { backlog: () => jobs.backlog, stop: () => jobs.stop() };
}

class JobLoop {
  readonly #options: JobsOptions;
  readonly #pool: Pool;
  readonly #lanes: readonly Lane[];
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> = Promise.resolve();
  #stopping = false;
  #upkeepAt = 0;
  #away = false;
  backlog: Backlog | null = null;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#pool = options.pool;
    this.#lanes = Array.from({ length: MAX_CONCURRENT }, () => new Lane(options, options.tasks));
  }

  /** The first look waits as well, so that the service starts undisturbed. */
  scheduleNextLook(): void {
    const { pollIntervalMs = POLL_INTERVAL_MS } = this.#options;
    this.#timer = setTimeout(() => {
      this.#ticking = this.#look().finally(() => {
        if (!this.#stopping) this.scheduleNextLook();
      });
    }, pollIntervalMs);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    await this.#ticking;
    await Promise.all(this.#lanes.map((lane) => lane.stop()));
  }

  /** Never throws: an outage of the database is logged once, and so is its end. */
  async #look(): Promise<void> {
    try {
      await this.#doUpkeep();
      await this.#startLanes();
      if (this.#away) this.#options.log.info('jobs can be done again');
      this.#away = false;
    } catch (error) {
      if (!this.#away) this.#options.log.warn({ err: error }, 'jobs cannot be looked for');
      this.#away = true;
    }
  }

  /** A lane with a long job does not keep the others from the jobs that come in the meantime. */
  async #startLanes(): Promise<void> {
    const idle = this.#lanes.filter((lane) => !lane.busy);
    if (idle.length === 0) return;
    const due = await countDueJobs(this.#pool, idle.length);
    if (this.#stopping) return;
    for (const lane of idle.slice(0, due)) lane.start();
  }

  async #doUpkeep(): Promise<void> {
    const now = performance.now();
    if (now < this.#upkeepAt) return;
    const released = await releaseAbandonedJobs(this.#pool, ABANDONED_AFTER_MS);
    if (released > 0) this.#options.log.warn({ released }, 'jobs of a killed process begin again');
    this.backlog = await this.#options.countBacklog();
    this.#upkeepAt = now + UPKEEP_INTERVAL_MS;
  }
}
