/** A UTC day: `2027-05-01`. */
export type Day = string;

const DAY_MS = 24 * 60 * 60_000;

export function dayOf(time: Date): Day {
  return time.toISOString().slice(0, 10);
}

export function addDays(day: Day, days: number): Day {
  return dayOf(new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS));
}

/** Returns a day such as `2027-03-01`, or null for any other text. */
export function parseDay(text: string): Day | null {
  if (!/^\d{4}-\d{2}-\d{2}$/u.test(text)) return null;
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && dayOf(parsed) === text ? text : null;
}

/** Both ends are included. */
export interface DayRange {
  readonly from: Day;
  readonly to: Day;
}

/** The periods for which machines are counted. */
export const PERIODS = ['day', 'week', 'month'] as const;
export type Period = (typeof PERIODS)[number];

const WEEK_DAYS = 7;

export function startOf(day: Day): Date {
  return new Date(`${day}T00:00:00Z`);
}

/** Returns the Monday of the day's week (ISO 8601). */
export function weekOf(day: Day): Day {
  return addDays(day, -((startOf(day).getUTCDay() + 6) % WEEK_DAYS));
}

/** Returns the first day of the day's month. */
export function monthOf(day: Day): Day {
  return `${day.slice(0, 7)}-01`;
}

/** Returns the first day of the month that is this many months later. */
export function addMonths(day: Day, months: number): Day {
  const start = startOf(monthOf(day));
  start.setUTCMonth(start.getUTCMonth() + months);
  return start.toISOString().slice(0, 10);
}

/** Returns the first day of the period that contains the day. */
export function periodOf(period: Period, day: Day): Day {
  if (period === 'day') return day;
  return period === 'week' ? weekOf(day) : monthOf(day);
}

/** Returns the day after a period. @param starts its first day */
export function endOfPeriod(period: Period, starts: Day): Day {
  if (period === 'month') return addMonths(starts, 1);
  return addDays(starts, period === 'week' ? WEEK_DAYS : 1);
}

/** Returns the number of days in a range. */
export function countDays({ from, to }: DayRange): number {
  return Math.round((startOf(to).getTime() - startOf(from).getTime()) / DAY_MS) + 1;
}

/** Returns the days before a range, as many as it has. */
export function rangeBefore(range: DayRange): DayRange {
  return { from: addDays(range.from, -countDays(range)), to: addDays(range.from, -1) };
}

/** Returns the first days of all periods that have a day in the range, oldest first. */
export function listPeriods(period: Period, { from, to }: DayRange): Day[] {
  const starts: Day[] = [];
  for (let each = periodOf(period, from); each <= to; each = endOfPeriod(period, each)) {
    starts.push(each);
  }
  return starts;
}
