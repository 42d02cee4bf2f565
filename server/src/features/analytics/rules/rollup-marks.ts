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

/** The roll-up of a day, or of a period by its first day. */
export interface RollupMark {
  readonly day: Day;
  /** The number of source rows; null: roll up again. */
  readonly measure: number | null;
  readonly rolledAt: Date;
}

/** A run after which all roll-ups were up to date. */
export interface RollupRun {
  readonly finishedAt: Date;
  readonly tookMs: number;
}

/** The rows of a day are committed within seconds of its end: a mark that is this much later is final, unless reset. */
const SETTLING_MS = 24 * 60 * 60_000;

/** Months for which days of use are stored, besides the current one. */
const USAGE_KEPT_MONTHS = 25;

/** The ratio of pauses to roll-ups: they use at most a tenth of the time. */
const PAUSE_FACTOR = 10;

/** A longer pause is a problem. */
const LONG_PAUSE_MS = 60 * 60_000;

/** Whether the roll-up of a day is final. A mark from the future was written with a wrong clock and does not count. */
export function isSettled({ day, measure, rolledAt }: RollupMark, now: Date): boolean {
  if (measure === null || rolledAt > now) return false;
  return rolledAt.getTime() >= startOf(addDays(day, 1)).getTime() + SETTLING_MS;
}

/** Returns the days whose roll-up is not final, in order. */
export function findUnsettled(
  days: readonly Day[],
  marks: readonly RollupMark[],
  now: Date,
): readonly Day[] {
  const settled = new Set(marks.filter((mark) => isSettled(mark, now)).map(({ day }) => day));
  return days.filter((day) => !settled.has(day)).toSorted();
}

/** A week or month, and the sum of the measures of its days. */
export interface StalePeriod {
  readonly starts: Day;
  readonly measure: number;
}

/**
 * Returns the weeks or months whose days changed since they were rolled up. The day before a period counts too: a
 * machine that was used then is not new in this period.
 * @param from an earlier period may lack days and keeps its roll-up
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

/** Returns the first day of use that is kept; whole months are kept, so that removal leaves no partial month. */
export function firstKeptUsageDay(today: Day): Day {
  return addMonths(today, -USAGE_KEPT_MONTHS);
}

export function firstKeptEventDay(today: Day, keepDays: number): Day {
  return addDays(today, -keepDays);
}

/** The shortest interval of rolling up trials, which reads all activations. */
const TRIALS_INTERVAL_MS = 60 * 60_000;

/** A week, and the 14 days after its end in which a trial can convert. */
const TRIAL_WEEK_OPEN_DAYS = 21;

/** Before the first trial. */
const FIRST_WEEK: Day = '2000-01-03';

/**
 * Returns the first week of trials whose roll-up was not final at the last time, or null when that was less than an
 * hour ago.
 * @param everything also less than an hour ago
 */
export function findStaleTrialWeek(
  marks: readonly RollupMark[],
  now: Date,
  everything: boolean,
): Day | null {
  const last = findLast(marks, now);
  if (!everything && last !== null && now.getTime() - last < TRIALS_INTERVAL_MS) return null;
  if (last === null) return FIRST_WEEK;
  return addDays(weekOf(dayOf(new Date(last))), -TRIAL_WEEK_OPEN_DAYS);
}

/** The shortest interval of rolling up licenses, which reads all of them. */
const LICENSES_INTERVAL_MS = 15 * 60_000;

/** Days before the first roll-up that are computed from the facts of the licenses: two periods of figures. */
const LICENSE_DAYS_BEFORE = 61;

/**
 * Returns the first day of licenses whose roll-up was not final at the last time, or null when that was less than a
 * quarter of an hour ago.
 * @param everything also less than a quarter of an hour ago
 */
export function findStaleLicenseDay(
  marks: readonly RollupMark[],
  now: Date,
  everything: boolean,
): Day | null {
  const last = findLast(marks, now);
  if (last === null) return addDays(dayOf(now), -LICENSE_DAYS_BEFORE);
  if (!everything && now.getTime() - last < LICENSES_INTERVAL_MS) return null;
  return dayOf(new Date(last));
}

/** The time of the last roll-up; null: never. A mark from the future was written with a wrong clock. */
function findLast(marks: readonly RollupMark[], now: Date): number | null {
  const times = marks.map(({ rolledAt }) => rolledAt.getTime()).filter((at) => at <= now.getTime());
  return times.length === 0 ? null : Math.max(...times);
}

/** Returns the milliseconds until roll-ups are due; 0 or less: now. */
export function timeUntilRun(last: RollupRun | null, now: Date, intervalMs: number): number {
  if (last === null) return 0;
  const sinceMs = now.getTime() - last.finishedAt.getTime();
  // A time in the future was written with a wrong clock, and must not delay the run.
  if (sinceMs < -intervalMs) return 0;
  return Math.max(intervalMs, last.tookMs * PAUSE_FACTOR) - sinceMs;
}

/** Whether roll-ups are overdue; they run later when they take long, so that this depends on the last run. */
export function isOverdue(last: RollupRun, now: Date): boolean {
  return timeUntilRun(last, now, LONG_PAUSE_MS) < 0;
}
