import { listEventDays } from '../queries/partitions.ts';
import { listUsageDays } from '../queries/roll-up-usage.ts';
import { listMarks, upsertRun } from '../queries/rollup-marks.ts';
import { dayOf, type Day, weekOf } from '../rules/days.ts';
import {
  findStalePeriods,
  findTrialsToLookAt,
  findUnsettled,
  firstKeptUsageDay,
  type RollupMark,
} from '../rules/rollup-marks.ts';
import { readEarlierTime, type ClocksContext } from './maintenance-transaction.ts';
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
  /** Days whose roll-ups are final are looked at, as far as their data is kept, and trials, though it is not an hour since. */
  readonly everything?: boolean;
  /** Told of each step that is done. */
  readonly onStep?: (done: number) => void;
}

/**
 * What became of a run: everything is up to date; there is more to do than there was time; or another process is at it.
 */
export type RollupRunOutcome = 'finished' | 'unfinished' | 'busy';

interface RunPlace extends RollupWorkplace {
  /** By the service's clock, for which days there are data. */
  readonly today: Day;
  readonly everything: boolean;
}

/** A part of the run: it says what is to be done only when the parts before it are done. */
type Part = (place: RunPlace) => Promise<readonly (() => Promise<RollupOutcome>)[]>;

/**
 * Brings the roll-ups up to date, as far as anything has changed: the days that are not final, the weeks and months whose
 * days are others now, and the trials. Each is a transaction of its own, so that what is done stays done; run again, it
 * gives the same.
 */
export async function runRollups(
  ctx: ClocksContext,
  { signal, budgetMs = Infinity, everything = false, onStep }: RollupRunOptions,
): Promise<RollupRunOutcome> {
  const begun = performance.now();
  const { pool, clock } = ctx;
  const startedAt = clock.now();
  const now = await readEarlierTime(ctx);
  const place: RunPlace = { pool, signal, now, today: dayOf(startedAt), everything };
  let done = 0;
  for (const part of [eventDays, usageDays, usageWeeks, usageMonths, trials]) {
    for (const step of await part(place)) {
      signal.throwIfAborted();
      if (performance.now() - begun > budgetMs) return 'unfinished';
      if ((await step()) === 'busy') return 'busy';
      onStep?.(++done);
    }
  }
  await upsertRun(pool, { finishedAt: startedAt, tookMs: performance.now() - begun });
  return 'finished';
}

const eventDays: Part = async (place) => {
  const [days, marks] = [await listEventDays(place.pool), await listMarks(place.pool, 'events')];
  return findDays(place, days, marks).map((day) => () => rollUpEventDay(place, day));
};

const usageDays: Part = async (place) => {
  const [days, marks] = [await listUsageDays(place.pool), await listMarks(place.pool, 'usage')];
  // A day whose last machine was erased has no use any more.
  const takenBack = marks.filter(({ measure }) => measure === null).map(({ day }) => day);
  const all = [...new Set([...days, ...takenBack])];
  // Of a day that is no longer kept some rows may be removed already.
  return findDays(place, all, marks, firstKept(place)).map(
    (day) => () => rollUpUsageDay(place, day),
  );
};

/** The days that are not final, or with `everything` all from one on. */
function findDays(
  { everything, now, today }: RunPlace,
  days: readonly Day[],
  marks: readonly RollupMark[],
  from: Day = '',
): readonly Day[] {
  const begun = days.filter((day) => day <= today);
  const again = everything ? begun.filter((day) => day >= from) : [];
  return [...new Set([...findUnsettled(begun, marks, now), ...again])].toSorted();
}

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

const trials: Part = async (place) => {
  const marks = await listMarks(place.pool, 'trials');
  const from = findTrialsToLookAt(marks, place.now, place.everything);
  if (from === null) return [];
  return [() => rollUpTrials(place, from, weekOf(dayOf(place.now)))];
};

function firstKept({ now }: RollupWorkplace): Day {
  return firstKeptUsageDay(dayOf(now));
}
