/** The days of a report, as the address holds them. All days are in UTC, as in the roll-ups. */

const DAY_MS = 86_400_000;

/** The numbers of days to choose from; the first one is not the default. */
export const PERIOD_DAYS = [7, 30, 90] as const;

const DEFAULT_DAYS = 30;

/** The days of a report. */
export interface Period {
  /** One of {@link PERIOD_DAYS}; null: other days. */
  readonly days: number | null;
  readonly from: string;
  readonly to: string;
}

/** Returns the day that is this many days later. */
function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Reads the parameters `days`, or `from` and `to`. */
export function readPeriod(query: URLSearchParams, nowMs: number): Period {
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const [from, to] = [readDay(query.get('from')), readDay(query.get('to'))];
  if (from !== null && to !== null && from <= to) return { days: null, from, to };
  const wanted = Number(query.get('days'));
  const days = PERIOD_DAYS.find((each) => each === wanted) ?? DEFAULT_DAYS;
  return { days, from: addDays(today, 1 - days), to: today };
}

function readDay(text: string | null): string | null {
  return text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
    ? text
    : null;
}

/** Returns the start of a day in the time zone of the operator, so that a chart labels it as this day. */
export function chartTime(day: string): string {
  return `${day}T00:00:00`;
}

/** Returns a change since the previous period, such as `+12 %`; null: it was nothing before. */
export function relativeChange(now: number, before: number): number | null {
  return before === 0 ? null : now / before - 1;
}
