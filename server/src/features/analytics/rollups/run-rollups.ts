import type { Pool } from 'pg';

import type { Queryable } from '#server/db/statement.ts';

import { listUsageDays } from '../list-usage-days.ts';
import { listPartitionDays } from '../queries/partitions.ts';
import { listMarks, upsertRun } from '../queries/rollup-marks.ts';
import { dayOf, type Day } from '../rules/days.ts';
import {
  findStalePeriods,
  findStaleLicenseDay,
  findStaleTrialWeek,
  findUnsettled,
  firstKeptUsageDay,
  type RollupMark,
} from '../rules/rollup-marks.ts';
import {
  BUSY,
  inLockedTransaction,
  readEarlierTime,
  type TimeDependencies,
} from './maintenance-transaction.ts';
import {
  rollUpEventDay,
  rollUpLicenses,
  rollUpTrials,
  rollUpUsageDay,
  rollUpUsageMonth,
  rollUpUsageWeek,
} from './roll-up.ts';

export interface RollupRunOptions {
  readonly signal: AbortSignal;
  /** After this time no new step starts. Default: unlimited. */
  readonly budgetMs?: number;
  /** Also rolls up final days whose data is stored, and trials less than an hour after the last time. */
  readonly everything?: boolean;
  /** Called after each step with the number of steps done. */
  readonly onStep?: (done: number) => void;
}

/**
 * `finished`: all roll-ups are up to date; `unfinished`: the time limit was reached; `busy`: another process is rolling
 * up.
 */
export type RollupRunOutcome = 'finished' | 'unfinished' | 'busy';

interface Run {
  readonly pool: Pool;
  readonly now: Date;
  /** By the service's clock, like the days of the data. */
  readonly today: Day;
  readonly everything: boolean;
}

/** Runs in a transaction with the lock of roll-ups. */
type Step = (db: Queryable) => Promise<void>;

/** Finds the steps of one kind of roll-up; called after the steps of the previous kinds. */
type FindSteps = (run: Run) => Promise<readonly Step[]>;

/**
 * Brings the roll-ups up to date: the days that are not final, the weeks and months whose days changed, and the trials.
 * Each step is a transaction and idempotent, so that an interrupted run keeps the steps done.
 */
export async function runRollups(
  deps: TimeDependencies,
  { signal, budgetMs = Infinity, everything = false, onStep }: RollupRunOptions,
): Promise<RollupRunOutcome> {
  const startedMs = performance.now();
  const { pool, clock } = deps;
  const startedAt = clock.now();
  const now = await readEarlierTime(deps);
  const run: Run = { pool, now, today: dayOf(startedAt), everything };
  let done = 0;
  for (const findSteps of [
    findEventDays,
    findUsageDays,
    findUsageWeeks,
    findUsageMonths,
    findTrials,
    findLicenses,
  ]) {
    for (const step of await findSteps(run)) {
      signal.throwIfAborted();
      if (performance.now() - startedMs > budgetMs) return 'unfinished';
      if ((await inLockedTransaction(pool, signal, 'roll-ups', step)) === BUSY) return 'busy';
      onStep?.(++done);
    }
  }
  await upsertRun(pool, { finishedAt: startedAt, tookMs: performance.now() - startedMs });
  return 'finished';
}

const findEventDays: FindSteps = async (run) => {
  const days = await listPartitionDays(run.pool);
  const marks = await listMarks(run.pool, 'events');
  return selectDays(run, days, marks).map((day) => (db) => rollUpEventDay(db, day, run.now));
};

const findUsageDays: FindSteps = async (run) => {
  const days = await listUsageDays(run.pool);
  const marks = await listMarks(run.pool, 'usage');
  // A day whose only machine was erased has no rows any more.
  const erased = marks.filter(({ measure }) => measure === null).map(({ day }) => day);
  const all = [...new Set([...days, ...erased])];
  // A day before the first stored one may lack rows.
  const selected = selectDays(run, all, marks, firstKept(run));
  return selected.map((day) => (db) => rollUpUsageDay(db, day, run.now));
};

/** Returns the days whose roll-up is not final, and with `everything` all days from one on. */
function selectDays(
  { everything, now, today }: Run,
  days: readonly Day[],
  marks: readonly RollupMark[],
  from: Day = '',
): readonly Day[] {
  const past = days.filter((day) => day <= today);
  const again = everything ? past.filter((day) => day >= from) : [];
  return [...new Set([...findUnsettled(past, marks, now), ...again])].toSorted();
}

const findUsageWeeks: FindSteps = async (run) => {
  const days = await listMarks(run.pool, 'usage');
  const weeks = await listMarks(run.pool, 'usage_week');
  const stale = findStalePeriods('week', days, weeks, firstKept(run));
  return stale.map((week) => (db) => rollUpUsageWeek(db, week, run.now));
};

const findUsageMonths: FindSteps = async (run) => {
  const days = await listMarks(run.pool, 'usage');
  const months = await listMarks(run.pool, 'usage_month');
  const stale = findStalePeriods('month', days, months, firstKept(run));
  return stale.map((month) => (db) => rollUpUsageMonth(db, month, run.now));
};

const findTrials: FindSteps = async (run) => {
  const marks = await listMarks(run.pool, 'trials');
  const from = findStaleTrialWeek(marks, run.now, run.everything);
  return from === null ? [] : [(db) => rollUpTrials(db, from, run.now)];
};

const findLicenses: FindSteps = async (run) => {
  const marks = await listMarks(run.pool, 'licenses');
  const from = findStaleLicenseDay(marks, run.now, run.everything);
  return from === null ? [] : [(db) => rollUpLicenses(db, from, run.now)];
};

function firstKept({ now }: Run): Day {
  return firstKeptUsageDay(dayOf(now));
}
