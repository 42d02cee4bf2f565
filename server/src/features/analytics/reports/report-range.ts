import { invalidRequest } from '#server/errors.ts';

import { addDays, dayOf, parseDay, rangeBefore, type Day, type DayRange } from '../rules/days.ts';

/** The days of a report, and the days before, which it is compared with. */
export interface ComparedRange extends DayRange {
  readonly previous: DayRange;
}

const DEFAULT_DAYS = 30;

/** Two years, and the two years before. */
const MAX_DAYS = 732;

const FIRST_DAY: Day = '2000-01-01';

/**
 * Reads the days that a request asks for.
 * @throws invalidRequest (422)
 */
export function readReportRange(
  query: { readonly from?: string; readonly to?: string },
  now: Date,
): ComparedRange {
  const to = query.to === undefined ? dayOf(now) : readDay('to', query.to);
  const from =
    query.from === undefined ? addDays(to, 1 - DEFAULT_DAYS) : readDay('from', query.from);
  if (from > to) throw invalidDay('from', 'The first day must not be after the last one');
  if (addDays(from, MAX_DAYS) <= to) {
    throw invalidDay('from', `A report covers at most ${MAX_DAYS} days`);
  }
  const range = { from, to };
  return { ...range, previous: rangeBefore(range) };
}

function readDay(name: string, text: string): Day {
  const day = parseDay(text);
  if (day !== null && day >= FIRST_DAY) return day;
  throw invalidDay(name, 'Input should be a date such as 2027-03-01');
}

function invalidDay(name: string, msg: string) {
  return invalidRequest([{ loc: ['query', name], msg, type: 'date_invalid' }]);
}

/** Returns the days of a report as the interface shows them. */
export function viewRange({ from, to, previous }: ComparedRange) {
  return { from, to, previous_from: previous.from, previous_to: previous.to };
}
