import type { Pool } from 'pg';

import {
  isAllowedToMakeDays,
  listEventDays,
} from '#server/features/analytics/queries/partitions.ts';
import { findRemovalClock } from '#server/features/analytics/queries/removal.ts';
import { findLastRun, isDataNewer } from '#server/features/analytics/queries/rollup-marks.ts';
import { addDays, dayOf } from '#server/features/analytics/rules/days.ts';
import { isFarAhead } from '#server/features/analytics/rules/removal-clock.ts';
import { isStandingStill } from '#server/features/analytics/rules/rollup-marks.ts';

import { formatMoment } from '../table.ts';
import { type Finding, ok, warning } from './finding.ts';

const EVENT_DAYS = 'days of events';

/** Whether events have a place today and tomorrow, and whether the service may go on making them. */
export async function checkEventDays(pool: Pool, now: Date): Promise<Finding> {
  if (!(await isAllowedToMakeDays(pool))) {
    return warning(EVENT_DAYS, {
      symptom: 'Events are answered with 503 within a week.',
      cause:
        'The role of DATABASE_URL may not make tables: it must own the table events and have CREATE on its schema.',
      fix: 'alter table events owner to <role>; grant create on schema <schema> to <role>;',
    });
  }
  const days = await listEventDays(pool);
  const last = days.at(-1);
  if (last === undefined) return ok(EVENT_DAYS, 'The service makes them when it runs.');
  const today = dayOf(now);
  const missing = [today, addDays(today, 1)].filter((day) => !days.includes(day));
  if (missing.length === 0) return ok(EVENT_DAYS, `Ready up to ${last}.`);
  return warning(EVENT_DAYS, {
    symptom: `There is no place for events of ${missing.join(' and ')}.`,
    cause: 'The service makes a week ahead every hour: it has not run since, or it cannot.',
    fix: 'Start it; when it runs, look for "the days to come" in its log.',
  });
}

const ROLLUPS = 'roll-ups';

/** Whether reports are of today. */
export async function checkRollups(pool: Pool, now: Date): Promise<Finding> {
  const last = await findLastRun(pool);
  const until = last?.finishedAt ?? new Date(0);
  const late = last === null || isStandingStill(last, now);
  if (late && (await isDataNewer(pool, until))) {
    return warning(ROLLUPS, {
      symptom: 'Reports lack what came in lately.',
      cause:
        last === null
          ? 'Usage and events have never been rolled up.'
          : `Usage and events were last rolled up at ${formatMoment(until)}.`,
      fix: 'The service does it every five minutes: look for "roll-ups" in its log. latchkey report refresh does it now.',
    });
  }
  return ok(ROLLUPS, last === null ? 'Nothing to report yet.' : `Of ${formatMoment(until)}.`);
}

const REMOVAL = 'removal of old data';

/** Whether old usage and events are removed by a clock that can be believed. */
export async function checkRemoval(pool: Pool, now: Date): Promise<Finding> {
  const clock = await findRemovalClock(pool);
  if (clock === null) return ok(REMOVAL, 'Nothing was removed yet.');
  const reached = formatMoment(clock.reachedAt);
  if (!isFarAhead(clock, now)) return ok(REMOVAL, `What is old is counted from ${reached}.`);
  return warning(REMOVAL, {
    symptom: 'Old usage and events are removed slowly, for this clock may be wrong.',
    cause: `This machine's clock says ${formatMoment(now)}, and removal had come to ${reached}.`,
    fix: 'Set the clock right by NTP, before anything is removed too early. When it is right, because the service did not run for weeks, do nothing: removal catches up, six hours each hour.',
  });
}
