import type { Pool } from 'pg';

import {
  isAllowedToMakeDays,
  listEventDays,
} from '#server/features/analytics/queries/partitions.ts';
import { addDays, dayOf } from '#server/features/analytics/rules/days.ts';

import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'days of events';

/** Whether events have a place today and tomorrow, and whether the service may go on making them. */
export async function checkEventDays(pool: Pool, now: Date): Promise<Finding> {
  if (!(await isAllowedToMakeDays(pool))) {
    return warning(CHECK, {
      symptom: 'Events are answered with 503 within a week.',
      cause:
        'The role of DATABASE_URL may not make tables: it must own the table events and have CREATE on its schema.',
      fix: 'alter table events owner to <role>; grant create on schema <schema> to <role>;',
    });
  }
  const days = await listEventDays(pool);
  const last = days.at(-1);
  if (last === undefined) return ok(CHECK, 'The service makes them when it runs.');
  const today = dayOf(now);
  const missing = [today, addDays(today, 1)].filter((day) => !days.includes(day));
  if (missing.length === 0) return ok(CHECK, `Ready up to ${last}.`);
  return warning(CHECK, {
    symptom: `There is no place for events of ${missing.join(' and ')}.`,
    cause: 'The service makes a week ahead every hour: it has not run since, or it cannot.',
    fix: 'Start it; when it runs, look for "the days to come" in its log.',
  });
}
