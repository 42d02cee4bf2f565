import type { Pool } from 'pg';

import type { Queryable } from '#server/db/statement.ts';

import {
  countDayEvents,
  deleteEventNames,
  deleteEventProps,
  deleteEventVersions,
  insertEventNames,
  insertEventProps,
  insertEventVersions,
} from '../queries/roll-up-events.ts';
import {
  deleteRetention,
  deleteUsageSystems,
  deleteUsageVersions,
  insertRetention,
  insertUsageSystems,
  insertUsageVersions,
  sumBeats,
  upsertFirstDays,
  upsertUsageTotal,
  deleteTrialWeeks,
  insertTrialWeeks,
} from '../queries/roll-up-usage.ts';
import { findMeasure, upsertMark, type RollupSource } from '../queries/rollup-marks.ts';
import type { Day } from '../rules/days.ts';
import type { StalePeriod } from '../rules/rollup-marks.ts';
import { BUSY, inRollupTransaction } from './maintenance-transaction.ts';

/** What a roll-up works with. */
export interface RollupWorkplace {
  readonly pool: Pool;
  readonly signal: AbortSignal;
  /** The moment that is written down for it. */
  readonly now: Date;
}

/** Whether a day was rolled up, or found unchanged; `busy`: by another process, perhaps. */
export type RollupOutcome = 'done' | 'unchanged' | 'busy';

/** Rolls the events of a day up, unless none has come or gone since the last time. */
export async function rollUpEventDay(place: RollupWorkplace, day: Day): Promise<RollupOutcome> {
  return rollUpDay(place, { source: 'events', day, measure: countDayEvents }, async (db) => {
    await deleteEventNames(db, day);
    await insertEventNames(db, day);
    await deleteEventVersions(db, day);
    await insertEventVersions(db, day);
    await deleteEventProps(db, day);
    await insertEventProps(db, day);
  });
}

/** Rolls the use of machines on a day up, unless there was no heartbeat since the last time. */
export async function rollUpUsageDay(place: RollupWorkplace, day: Day): Promise<RollupOutcome> {
  return rollUpDay(place, { source: 'usage', day, measure: sumBeats }, async (db) => {
    await upsertFirstDays(db, day);
    await upsertUsageTotal(db, 'day', day);
    await deleteUsageVersions(db, day);
    await insertUsageVersions(db, day);
    await deleteUsageSystems(db, day);
    await insertUsageSystems(db, day);
  });
}

/** Rolls a week up whose days are, with what is left of those who were new in earlier weeks. */
export async function rollUpUsageWeek(
  place: RollupWorkplace,
  { starts, measure }: StalePeriod,
): Promise<RollupOutcome> {
  return inOneStep(place, async (db) => {
    await upsertUsageTotal(db, 'week', starts);
    await deleteRetention(db, starts);
    await insertRetention(db, starts);
    await upsertMark(db, 'usage_week', { day: starts, measure, rolledAt: place.now });
  });
}

/** Rolls a month up whose days are. */
export async function rollUpUsageMonth(
  place: RollupWorkplace,
  { starts, measure }: StalePeriod,
): Promise<RollupOutcome> {
  return inOneStep(place, async (db) => {
    await upsertUsageTotal(db, 'month', starts);
    await upsertMark(db, 'usage_month', { day: starts, measure, rolledAt: place.now });
  });
}

/** Rolls the trials up that began in a week or later. @param week the present one, for the mark */
export async function rollUpTrials(
  place: RollupWorkplace,
  from: Day,
  week: Day,
): Promise<RollupOutcome> {
  return inOneStep(place, async (db) => {
    await deleteTrialWeeks(db, from);
    await insertTrialWeeks(db, from);
    await upsertMark(db, 'trials', { day: week, measure: 0, rolledAt: place.now });
  });
}

interface DayToRollUp {
  readonly source: RollupSource;
  readonly day: Day;
  /** How much there is of the day. */
  readonly measure: (db: Queryable, day: Day) => Promise<number>;
}

async function rollUpDay(
  { pool, signal, now }: RollupWorkplace,
  { source, day, measure }: DayToRollUp,
  work: (db: Queryable) => Promise<void>,
): Promise<RollupOutcome> {
  const outcome = await inRollupTransaction(pool, signal, async (client) => {
    const [found, known] = [await measure(client, day), await findMeasure(client, source, day)];
    const changed = found !== known;
    if (changed) await work(client);
    // Unchanged as well: so the day becomes final.
    await upsertMark(client, source, { day, measure: found, rolledAt: now });
    return changed ? 'done' : 'unchanged';
  });
  return outcome === BUSY ? 'busy' : outcome;
}

async function inOneStep(
  { pool, signal }: RollupWorkplace,
  work: (db: Queryable) => Promise<void>,
): Promise<RollupOutcome> {
  const outcome = await inRollupTransaction(pool, signal, work);
  return outcome === BUSY ? 'busy' : 'done';
}
