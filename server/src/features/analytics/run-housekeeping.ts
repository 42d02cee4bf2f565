import type { Context } from '#server/context.ts';

import { makeEventDays } from './create-event-partitions.ts';
import { findLastRun } from './queries/rollup-marks.ts';
import { removeOldData } from './remove-old-data.ts';
import { RepeatingTask, type TaskPlan } from './repeating-task.ts';
import { runRollups } from './rollups/run-rollups.ts';
import { timeUntilRun, type RollupRun } from './rules/rollup-marks.ts';
import { writeDrops } from './event-counts.ts';

/** What a process does by itself for usage and events. */
export interface Housekeeping {
  /** Begins some seconds later. To be called when the service takes requests, whose start comes first. */
  start(): void;
  /** Ends what is under way and writes down what has been counted. To be called when no more requests are served. */
  stop(): Promise<void>;
}

export interface HousekeepingOptions {
  /** All pauses are so many times as long; left out: 1. */
  readonly pace?: number;
}

type HousekeepingContext = Pick<
  Context,
  'clock' | 'config' | 'eventCounts' | 'log' | 'metrics' | 'pool' | 'readDatabaseTime'
>;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** How old roll-ups become. */
const ROLLUP_INTERVAL_MS = 5 * MINUTE_MS;

/** A run that has more to do goes on after a pause. */
const ROLLUP_BUDGET_MS = 30 * SECOND_MS;

/**
 * Keeps usage and events in order: days are made before their events arrive, drops are written down, roll-ups follow, and
 * what is old is removed; beside other processes that do the same.
 */
export function createHousekeeping(
  ctx: HousekeepingContext,
  { pace = 1 }: HousekeepingOptions = {},
): Housekeeping {
  const rollups = new RollupTask(ctx);
  const tasks = [...plansOf(ctx), rollups.plan].map(
    (plan) => new RepeatingTask(ctx.log, slow(plan, pace)),
  );
  ctx.metrics.setRollupAge(() => rollups.ageSeconds());
  return {
    start: () => tasks.forEach((task) => task.start()),
    async stop() {
      await Promise.all(tasks.map((task) => task.stop()));
      await writeLastDrops(ctx);
    },
  };
}

function plansOf(ctx: HousekeepingContext): readonly TaskPlan[] {
  return [
    {
      firstMs: 3 * SECOND_MS,
      everyMs: HOUR_MS,
      work: async () => void (await makeEventDays(ctx.pool, ctx.clock.now())),
      failure: 'the days to come cannot be made ready for their events',
    },
    {
      firstMs: 10 * SECOND_MS,
      everyMs: 10 * SECOND_MS,
      work: () => writeDrops(ctx),
      failure: 'it cannot be written down how many events were dropped',
    },
    {
      firstMs: MINUTE_MS,
      everyMs: HOUR_MS,
      work: (signal) => removeOldData(ctx, signal),
      failure: 'events and days of use that are old cannot be removed',
    },
  ];
}

/** Roll-ups of all processes: whoever comes first when they are due does them. */
class RollupTask {
  readonly #ctx: HousekeepingContext;
  #last: RollupRun | null = null;

  constructor(ctx: HousekeepingContext) {
    this.#ctx = ctx;
  }

  readonly plan: TaskPlan = {
    firstMs: 5 * SECOND_MS,
    everyMs: MINUTE_MS,
    work: (signal) => this.#work(signal),
    failure: 'roll-ups cannot be brought up to date',
  };

  /** Null: never, as far as is known here. */
  ageSeconds(): number | null {
    if (this.#last === null) return null;
    return (this.#ctx.clock.now().getTime() - this.#last.finishedAt.getTime()) / SECOND_MS;
  }

  async #work(signal: AbortSignal): Promise<number | void> {
    const { clock, pool } = this.#ctx;
    this.#last = await findLastRun(pool);
    if (timeUntilRun(this.#last, clock.now(), ROLLUP_INTERVAL_MS) > 0) return;
    const begun = performance.now();
    const outcome = await runRollups(this.#ctx, { signal, budgetMs: ROLLUP_BUDGET_MS });
    if (outcome === 'unfinished') return performance.now() - begun;
    this.#last = await findLastRun(pool);
  }
}

/** What cannot be written at the stop is lost, so it is told. */
async function writeLastDrops(ctx: HousekeepingContext): Promise<void> {
  try {
    await writeDrops(ctx);
  } catch (error) {
    const events = ctx.eventCounts.takeDrops().reduce((sum, drop) => sum + drop.events, 0);
    ctx.log.warn({ err: error, events }, 'dropped events could not be counted before the stop');
  }
}

function slow(plan: TaskPlan, pace: number): TaskPlan {
  return { ...plan, firstMs: plan.firstMs * pace, everyMs: plan.everyMs * pace };
}
