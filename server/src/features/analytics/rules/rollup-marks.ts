import {
  addDays,
  dayOf,
  type Day,
  addMonths,
  periodOf,
  startOf,
  weekOf,
  type Period,
} from './days.ts';

/** That a day, or a period by its first day, was rolled up. */
export interface RollupMark {
  readonly day: Day;
  /** How much was there then; null asks for it to be rolled up again. */
  readonly measure: number | null;
  readonly rolledAt: Date;
}

/** The last time that everything was found up to date. */
export interface RollupRun {
  readonly finishedAt: Date;
  readonly tookMs: number;
}

/**
 * Whatever belongs to a day is committed within seconds of its end. A mark from so much later is the last word, unless
 * it was taken back.
 */
const SETTLING_MS = 24 * 60 * 60_000;

/** For how many months days of use are kept, besides the one that has begun. */
const USAGE_KEPT_MONTHS = 25;

/** At most so much of the time goes into roll-ups, however many events there are: a tenth. */
const PAUSE_FACTOR = 10;

/** After as long a pause somebody should look. */
const LONG_PAUSE_MS = 60 * 60_000;

/** Whether a day's roll-up is final. A mark of the future was made by a wrong clock, and says nothing. */
export function isSettled({ day, measure, rolledAt }: RollupMark, now: Date): boolean {
  if (measure === null || rolledAt > now) return false;
  return rolledAt.getTime() >= startOf(addDays(day, 1)).getTime() + SETTLING_MS;
}

/** The days that have to be looked at: those whose roll-up is not final, in their order. */
export function findUnsettled(
  days: readonly Day[],
  marks: readonly RollupMark[],
  now: Date,
): readonly Day[] {
  const settled = new Set(marks.filter((mark) => isSettled(mark, now)).map(({ day }) => day));
  return days.filter((day) => !settled.has(day)).toSorted();
}

/** A week or month, and what its days add up to. */
export interface StalePeriod {
  readonly starts: Day;
  readonly measure: number;
}

/**
 * The weeks or months whose days add up to something else than when they were rolled up. The day before belongs to them:
 * a machine that turns out to have been used on it was new then, and not in this period.
 * @param from a period that began earlier may have lost days, and keeps what it has
 */
export function findStalePeriods(
  period: Exclude<Period, 'day'>,
  days: readonly RollupMark[],
  marks: readonly RollupMark[],
  from: Day,
): readonly StalePeriod[] {
  const measures = new Map<Day, number>();
  for (const { day, measure } of days) {
    const starts = periodOf(period, day);
    measures.set(starts, (measures.get(starts) ?? 0) + (measure ?? 0));
  }
  const before = new Map(days.map(({ day, measure }) => [addDays(day, 1), measure ?? 0]));
  const known = new Map(marks.map(({ day, measure }) => [day, measure]));
  return [...measures]
    .map(([starts, measure]) => ({ starts, measure: measure + (before.get(starts) ?? 0) }))
    .filter(({ starts, measure }) => known.get(starts) !== measure)
    .filter(({ starts }) => starts >= from || !known.has(starts))
    .toSorted((a, b) => (a.starts < b.starts ? -1 : 1));
}

/** The first day of use that is kept: whole months are, so that what is removed leaves no month in part. */
export function firstKeptUsageDay(today: Day): Day {
  return addMonths(today, -USAGE_KEPT_MONTHS);
}

/** The first day of events that is kept. */
export function firstKeptEventDay(today: Day, keepDays: number): Day {
  return addDays(today, -keepDays);
}

/** Trials are rolled up no more often than this: all machines that activated something are read for them. */
const TRIALS_INTERVAL_MS = 60 * 60_000;

/** A week, and the two in which those who began a trial at its end may buy. */
const TRIAL_WEEK_OPEN_DAYS = 21;

/** Before the first trial there ever was. */
const FIRST_WEEK: Day = '2000-01-03';

/**
 * The first week of trials whose roll-up was not final when it was last done; null: that was a moment ago.
 * @param everything though it was a moment ago
 */
export function findTrialsToLookAt(
  marks: readonly RollupMark[],
  now: Date,
  everything: boolean,
): Day | null {
  const told = marks.map(({ rolledAt }) => rolledAt.getTime()).filter((at) => at <= now.getTime());
  const last = Math.max(...told);
  if (!everything && now.getTime() - last < TRIALS_INTERVAL_MS) return null;
  if (told.length === 0) return FIRST_WEEK;
  return addDays(weekOf(dayOf(new Date(last))), -TRIAL_WEEK_OPEN_DAYS);
}

/** When roll-ups are due again, in milliseconds from now; what is due already is 0 or less. */
export function timeUntilRun(last: RollupRun | null, now: Date, intervalMs: number): number {
  if (last === null) return 0;
  const sinceMs = now.getTime() - last.finishedAt.getTime();
  // Written by a clock that is wrong, or ours is: nobody waits for that moment to come.
  if (sinceMs < -intervalMs) return 0;
  return Math.max(intervalMs, last.tookMs * PAUSE_FACTOR) - sinceMs;
}

/** Whether roll-ups stand still. They are late when they take long, so this is measured by what the last ones took. */
export function isStandingStill(last: RollupRun, now: Date): boolean {
  return timeUntilRun(last, now, LONG_PAUSE_MS) < 0;
}
