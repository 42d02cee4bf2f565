import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import type { Queryable } from '#server/db/statement.ts';

import { listUsageDays } from './list-usage-days.ts';
import { dropPartition, listPartitionDays, lockPartitions } from './queries/partitions.ts';
import {
  deleteEventIds,
  deleteUsageDays,
  findRemovalClock,
  summarizeEventIds,
  upsertRemovalClock,
} from './queries/removal.ts';
import { listMarks } from './queries/rollup-marks.ts';
import { setLockTimeout } from './queries/transactions.ts';
import {
  BUSY,
  inLockedTransaction,
  readEarlierTime,
  type TimeDependencies,
} from './rollups/maintenance-transaction.ts';
import { addDays, dayOf, startOf, weekOf, type Day } from './rules/days.ts';
import { isFarAhead, moveRemovalClock } from './rules/removal-clock.ts';
import { findUnsettled, firstKeptEventDay, firstKeptUsageDay } from './rules/rollup-marks.ts';

/** How long the id of an event is stored to recognize duplicates. */
export const EVENT_IDS_KEPT_DAYS = 90;

const BATCH_ROWS = 10_000;

/** The rest is removed by the next run. */
const BUDGET_MS = 2 * 60_000;

/**
 * Dropping a partition waits for all statements on events and blocks new ones; after this time the next run
 * tries again, since for instance a backup reads for an hour.
 */
const DROP_LOCK_TIMEOUT_MS = 200;

export interface RemovalDependencies extends TimeDependencies {
  readonly config: { readonly events: { readonly keepDays: number } };
  readonly log: Pick<Logger, 'error'>;
}

/**
 * Removes events and days of use that are old and have a final roll-up, and old event ids. One process runs at a time.
 */
export async function removeOldData(deps: RemovalDependencies, signal: AbortSignal): Promise<void> {
  const now = await advanceClock(deps);
  await dropPartitions(deps, now, signal);
  const idsBefore = startOf(addDays(dayOf(now), -EVENT_IDS_KEPT_DAYS));
  const emptied = await removeInBatches(deps, signal, (db) =>
    deleteEventIds(db, idsBefore, BATCH_ROWS),
  );
  // Ids expire by whole days, so this runs once every Monday.
  if (emptied && weekOf(dayOf(now)) === dayOf(now)) {
    await inLockedTransaction(deps.pool, signal, 'removal', summarizeEventIds);
  }
  const usageBefore = await findUsageEnd(deps, now);
  await removeInBatches(deps, signal, (db) => deleteUsageDays(db, usageBefore, BATCH_ROWS));
}

/** Returns the time from which ages are counted. */
async function advanceClock(deps: RemovalDependencies): Promise<Date> {
  const { log, pool } = deps;
  const now = await readEarlierTime(deps);
  const clock = moveRemovalClock(await findRemovalClock(pool), now);
  await upsertRemovalClock(pool, clock);
  if (isFarAhead(clock, now)) {
    log.error(
      { event: 'removal.clock_jumped', now, countedFrom: clock.reachedAt },
      'clock jumped ahead since the last removal of old data; removing slowly',
    );
  }
  return clock.reachedAt;
}

async function dropPartitions(
  { config, pool }: RemovalDependencies,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  const keptFrom = firstKeptEventDay(dayOf(now), config.events.keepDays);
  const old = (await listPartitionDays(pool)).filter((day) => day < keptFrom);
  const unsettled = new Set(findUnsettled(old, await listMarks(pool, 'events'), now));
  for (const day of old.filter((each) => !unsettled.has(each))) {
    const outcome = await inLockedTransaction(pool, signal, 'roll-ups', async (client) => {
      await setLockTimeout(client, DROP_LOCK_TIMEOUT_MS);
      await lockPartitions(client);
      await dropPartition(client, day);
    });
    if (outcome === BUSY) return;
  }
}

/** Returns the day before which days of use are removed: all older days have a final roll-up. */
async function findUsageEnd({ pool }: RemovalDependencies, now: Date): Promise<Day> {
  const keptFrom = firstKeptUsageDay(dayOf(now));
  const old = await listUsageDays(pool, keptFrom);
  return findUnsettled(old, await listMarks(pool, 'usage'), now)[0] ?? keptFrom;
}

/**
 * Removes rows in batches, with pauses as long as the batches, so that it uses at most half of the database.
 * @returns whether rows were removed and none are left
 */
async function removeInBatches(
  { pool }: RemovalDependencies,
  signal: AbortSignal,
  removeBatch: (db: Queryable) => Promise<number>,
): Promise<boolean> {
  const startedAt = performance.now();
  let total = 0;
  while (!signal.aborted && performance.now() - startedAt < BUDGET_MS) {
    const batchStartedAt = performance.now();
    const outcome = await inLockedTransaction(pool, signal, 'removal', removeBatch);
    const removed = outcome === BUSY ? 0 : outcome;
    total += removed;
    if (removed < BATCH_ROWS) return total > 0;
    await sleep(performance.now() - batchStartedAt, undefined, { signal });
  }
  return false;
}
