/** A day of UTC, as `2027-05-01`. */
export type Day = string;

const DAY_MS = 24 * 60 * 60_000;

/** The day of a moment. */
export function dayOf(moment: Date): Day {
  return moment.toISOString().slice(0, 10);
}

/** The day that comes so many days later. */
export function addDays(day: Day, days: number): Day {
  return dayOf(new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS));
}

/** Days in a row, both ends among them. */
export interface DayRange {
  readonly from: Day;
  readonly to: Day;
}

/** The lengths of time for which machines are counted. */
export const PERIODS = ['day', 'week', 'month'] as const;
export type Period = (typeof PERIODS)[number];

const WEEK_DAYS = 7;

/** The first moment of a day. */
export function startOf(day: Day): Date {
  return new Date(`${day}T00:00:00Z`);
}

/** The Monday of a day's week (ISO 8601). */
export function weekOf(day: Day): Day {
  return addDays(day, -((startOf(day).getUTCDay() + 6) % WEEK_DAYS));
}

/** The first day of a day's month. */
export function monthOf(day: Day): Day {
  return `${day.slice(0, 7)}-01`;
}

/** The first day of the month that comes so many months later, or earlier. */
export function addMonths(day: Day, months: number): Day {
  const start = startOf(monthOf(day));
  start.setUTCMonth(start.getUTCMonth() + months);
  return start.toISOString().slice(0, 10);
}

/** The day on which the period of a day begins. */
export function periodOf(period: Period, day: Day): Day {
  if (period === 'day') return day;
  return period === 'week' ? weekOf(day) : monthOf(day);
}

/** The day after the last one of a period. @param starts its first day */
export function endOfPeriod(period: Period, starts: Day): Day {
  if (period === 'month') return addMonths(starts, 1);
  return addDays(starts, period === 'week' ? WEEK_DAYS : 1);
}
