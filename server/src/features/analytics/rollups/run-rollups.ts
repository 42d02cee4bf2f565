import type { Context } from '#server/context.ts';

import { listEventDays } from '../queries/partitions.ts';
import { listMarks, upsertRun } from '../queries/rollup-marks.ts';
import { listUsageDays } from '../queries/roll-up-usage.ts';
import { dayOf, type Day } from '../rules/days.ts';
import { weekOf } from '../rules/periods.ts';
import {
  findStalePeriods,
  findTrialsToLookAt,
  findUnsettled,
  firstKeptUsageDay,
} from '../rules/rollup-marks.ts';
import {
  rollUpEventDay,
  rollUpTrials,
  rollUpUsageDay,
  rollUpUsageMonth,
  rollUpUsageWeek,
  type RollupOutcome,
  type RollupWorkplace,
} from './roll-up-day.ts';

export interface RollupRunOptions {
  readonly signal: AbortSignal;
  /** No new step begins after so long; left out: all are done. */
  readonly budgetMs?: number;
  /** Trials are looked at, though it is not an hour since. */
  readonly everything?: boolean;
  /** Told of each step that is done. */
  readonly onStep?: (done: number) => void;
}

/**
 * What became of a run: everything is up to date; there is more to do than there was time; or another process is at it.
 */
export type RollupRunOutcome = 'finished' | 'unfinished' | 'busy';

/** A part of the run: it says what is to be done only when the parts before it are done. */
type Part = (place: RollupWorkplace) => Promise<readonly (() => Promise<RollupOutcome>)[]>;

/**
 * Brings the roll-ups up to date, as far as anything has changed: the days that are not final, the weeks and months whose
 * days are others now, and the trials. Each is a transaction of its own, so that what is done stays done; run again, it
 * gives the same.
 */
export async function runRollups(
  { pool, clock }: Pick<Context, 'pool' | 'clock'>,
  { signal, budgetMs = Infinity, everything = false, onStep }: RollupRunOptions,
): Promise<RollupRunOutcome> {
  const begun = performance.now();
  const place: RollupWorkplace = { pool, signal, now: clock.now() };
  let done = 0;
  for (const part of [eventDays, usageDays, usageWeeks, usageMonths, trialsUnless(everything)]) {
    for (const step of await part(place)) {
      signal.throwIfAborted();
      if (performance.now() - begun > budgetMs) return 'unfinished';
      if ((await step()) === 'busy') return 'busy';
      onStep?.(++done);
    }
  }
  await upsertRun(pool, { finishedAt: place.now, tookMs: performance.now() - begun });
  return 'finished';
}

const eventDays: Part = async (place) => {
  const [days, marks] = [await listEventDays(place.pool), await listMarks(place.pool, 'events')];
  return findUnsettled(days, marks, dayOf(place.now)).map(
    (day) => () => rollUpEventDay(place, day),
  );
};

const usageDays: Part = async (place) => {
  const [days, marks] = [await listUsageDays(place.pool), await listMarks(place.pool, 'usage')];
  // A day whose last machine was erased has no use any more.
  const takenBack = marks.filter(({ measure }) => measure === null).map(({ day }) => day);
  const all = [...new Set([...days, ...takenBack])];
  return findUnsettled(all, marks, dayOf(place.now)).map((day) => () => rollUpUsageDay(place, day));
};

const usageWeeks: Part = async (place) => {
  const [days, weeks] = [
    await listMarks(place.pool, 'usage'),
    await listMarks(place.pool, 'usage_week'),
  ];
  const stale = findStalePeriods('week', days, weeks, firstKept(place));
  return stale.map((week) => () => rollUpUsageWeek(place, week));
};

const usageMonths: Part = async (place) => {
  const [days, months] = [
    await listMarks(place.pool, 'usage'),
    await listMarks(place.pool, 'usage_month'),
  ];
  const stale = findStalePeriods('month', days, months, firstKept(place));
  return stale.map((month) => () => rollUpUsageMonth(place, month));
};

function trialsUnless(everything: boolean): Part {
  return async (place) => {
    const marks = await listMarks(place.pool, 'trials');
    const from = findTrialsToLookAt(marks, place.now, everything);
    if (from === null) return [];
    return [() => rollUpTrials(place, from, weekOf(dayOf(place.now)))];
  };
}

function firstKept({ now }: RollupWorkplace): Day {
  return firstKeptUsageDay(dayOf(now));
}
