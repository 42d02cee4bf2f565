import type { Queryable } from '#server/db/statement.ts';

import { isDropped } from '../queries/event-archives.ts';
import {
  countDayEvents,
  replaceEventNames,
  replaceEventProps,
  replaceEventVersions,
} from '../queries/roll-up-events.ts';
import {
  replaceRetention,
  replaceUsageSystems,
  replaceUsageVersions,
  sumBeats,
  upsertFirstDays,
  upsertUsageTotal,
} from '../queries/roll-up-usage.ts';
import {
  replaceTrialDays,
  storeTrialConversions,
  upsertLicenseDays,
} from '../queries/roll-up-licenses.ts';
import { findMeasure, upsertMark, type RollupSource } from '../queries/rollup-marks.ts';
import { weekOf, dayOf, type Day } from '../rules/days.ts';
import type { StalePeriod } from '../rules/rollup-marks.ts';

/**
 * Rolls up the events of a day, if their number changed. The roll-up of a day that was archived and dropped stays: a wrong clock
 * may store events in a new partition of that day.
 * @param now stored in the mark, like in all roll-ups
 */
export async function rollUpEventDay(db: Queryable, day: Day, now: Date): Promise<void> {
  if (await isDropped(db, day)) return;
  if (!(await markDay(db, 'events', day, await countDayEvents(db, day), now))) return;
  await replaceEventNames(db, day);
  await replaceEventVersions(db, day);
  await replaceEventProps(db, day);
}

/** Rolls up the usage of a day, if the number of heartbeats changed. */
export async function rollUpUsageDay(db: Queryable, day: Day, now: Date): Promise<void> {
  if (!(await markDay(db, 'usage', day, await sumBeats(db, day), now))) return;
  await upsertFirstDays(db, day);
  await upsertUsageTotal(db, 'day', day);
  await replaceUsageVersions(db, day);
  await replaceUsageSystems(db, day);
}

/** Rolls up the usage and retention of a week whose days are rolled up. */
export async function rollUpUsageWeek(
  db: Queryable,
  { starts, measure }: StalePeriod,
  now: Date,
): Promise<void> {
  await upsertUsageTotal(db, 'week', starts);
  await replaceRetention(db, starts);
  await upsertMark(db, 'usage_week', { day: starts, measure, rolledAt: now });
}

/** Rolls up the usage of a month whose days are rolled up. */
export async function rollUpUsageMonth(
  db: Queryable,
  { starts, measure }: StalePeriod,
  now: Date,
): Promise<void> {
  await upsertUsageTotal(db, 'month', starts);
  await upsertMark(db, 'usage_month', { day: starts, measure, rolledAt: now });
}

/** Rolls up the trials that started in a week or later; the mark has the present week. */
export async function rollUpTrials(db: Queryable, from: Day, now: Date): Promise<void> {
  await storeTrialConversions(db, from);
  await replaceTrialDays(db, from);
  await upsertMark(db, 'trials', { day: weekOf(dayOf(now)), measure: 0, rolledAt: now });
}

/** Rolls up the licenses of each day from one on. */
export async function rollUpLicenses(db: Queryable, from: Day, now: Date): Promise<void> {
  await upsertLicenseDays(db, from, now);
  await upsertMark(db, 'licenses', { day: dayOf(now), measure: 0, rolledAt: now });
}

/**
 * Marks a day as rolled up, also when nothing changed, so that the day becomes final.
 * @param measure the number of source rows of the day
 * @returns whether the number changed
 */
async function markDay(
  db: Queryable,
  source: RollupSource,
  day: Day,
  measure: number,
  now: Date,
): Promise<boolean> {
  const known = await findMeasure(db, source, day);
  await upsertMark(db, source, { day, measure, rolledAt: now });
  return measure !== known;
}
