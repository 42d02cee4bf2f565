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
