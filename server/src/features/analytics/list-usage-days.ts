import type { Queryable } from '#server/db/statement.ts';

import { findNextUsageDay } from './queries/roll-up-usage.ts';
import type { Day } from './rules/days.ts';

/**
 * Returns the days on which any machine was used, oldest first. Steps from one day to the next by the index, regardless
 * of the number of machines: 0.1 ms per day. One recursive statement would not run on Citus.
 * @param until the day before which to stop; default: none
 */
export async function listUsageDays(db: Queryable, until: Day = 'infinity'): Promise<Day[]> {
  const days: Day[] = [];
  let day = await findNextUsageDay(db, '-infinity', until);
  while (day !== null) {
    days.push(day);
    day = await findNextUsageDay(db, day, until);
  }
  return days;
}
