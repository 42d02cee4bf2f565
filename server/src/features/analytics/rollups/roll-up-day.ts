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

export interface RollupDependencies {
  readonly pool: Pool;
  readonly signal: AbortSignal;
  /** Stored in the mark. */
  readonly now: Date;
}

/** `busy`: another process holds the lock of roll-ups. */
export type RollupOutcome = 'done' | 'unchanged' | 'busy';

/** Rolls up the events of a day, if their number changed. */
export async function rollUpEventDay(deps: RollupDependencies, day: Day): Promise<RollupOutcome> {
  return rollUpDay(deps, { source: 'events', day, measure: countDayEvents }, async (db) => {
    await deleteEventNames(db, day);
    await insertEventNames(db, day);
    await deleteEventVersions(db, day);
    await insertEventVersions(db, day);
    await deleteEventProps(db, day);
    await insertEventProps(db, day);
  });
}

/** Rolls up the usage of a day, if the number of heartbeats changed. */
export async function rollUpUsageDay(deps: RollupDependencies, day: Day): Promise<RollupOutcome> {
  return rollUpDay(deps, { source: 'usage', day, measure: sumBeats }, async (db) => {
    await upsertFirstDays(db, day);
    await upsertUsageTotal(db, 'day', day);
    await deleteUsageVersions(db, day);
    await insertUsageVersions(db, day);
    await deleteUsageSystems(db, day);
    await insertUsageSystems(db, day);
  });
}

/** Rolls up the usage and retention of a week whose days are rolled up. */
export async function rollUpUsageWeek(
  deps: RollupDependencies,
  { starts, measure }: StalePeriod,
): Promise<RollupOutcome> {
  return rollUpAlways(deps, async (db) => {
    await upsertUsageTotal(db, 'week', starts);
    await deleteRetention(db, starts);
    await insertRetention(db, starts);
    await upsertMark(db, 'usage_week', { day: starts, measure, rolledAt: deps.now });
  });
}

/** Rolls up the usage of a month whose days are rolled up. */
export async function rollUpUsageMonth(
  deps: RollupDependencies,
  { starts, measure }: StalePeriod,
): Promise<RollupOutcome> {
  return rollUpAlways(deps, async (db) => {
    await upsertUsageTotal(db, 'month', starts);
    await upsertMark(db, 'usage_month', { day: starts, measure, rolledAt: deps.now });
  });
}

/** Rolls up the trials that started in a week or later. @param week the present one, for the mark */
export async function rollUpTrials(
  deps: RollupDependencies,
  from: Day,
  week: Day,
): Promise<RollupOutcome> {
  return rollUpAlways(deps, async (db) => {
    await deleteTrialWeeks(db, from);
    await insertTrialWeeks(db, from);
    await upsertMark(db, 'trials', { day: week, measure: 0, rolledAt: deps.now });
  });
}

interface DayToRollUp {
  readonly source: RollupSource;
  readonly day: Day;
  /** Counts the source rows of the day, to detect a change. */
  readonly measure: (db: Queryable, day: Day) => Promise<number>;
}

async function rollUpDay(
  { pool, signal, now }: RollupDependencies,
  { source, day, measure }: DayToRollUp,
  work: (db: Queryable) => Promise<void>,
): Promise<RollupOutcome> {
  const outcome = await inRollupTransaction(pool, signal, async (client) => {
    const [found, known] = [await measure(client, day), await findMeasure(client, source, day)];
    const changed = found !== known;
    if (changed) await work(client);
    // Also when unchanged, so that the day becomes final.
    await upsertMark(client, source, { day, measure: found, rolledAt: now });
    return changed ? 'done' : 'unchanged';
  });
  return outcome === BUSY ? 'busy' : outcome;
}

async function rollUpAlways(
  { pool, signal }: RollupDependencies,
  work: (db: Queryable) => Promise<void>,
): Promise<RollupOutcome> {
  const outcome = await inRollupTransaction(pool, signal, work);
  return outcome === BUSY ? 'busy' : 'done';
}
