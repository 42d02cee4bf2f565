import { setTimeout as sleep } from 'node:timers/promises';

import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { dropEventDay, listEventDays, lockEventDays } from './queries/partitions.ts';
import {
  deleteEventIds,
  deleteUsageDays,
  setLockTimeout,
  summariseEventIds,
  tryLockRemoval,
  findRemovalClock,
  upsertRemovalClock,
} from './queries/removal.ts';
import { listUsageDays } from './queries/roll-up-usage.ts';
import { listMarks } from './queries/rollup-marks.ts';
import {
  cancelOnAbort,
  readEarlierTime,
  type ClocksContext,
  BUSY,
  inRollupTransaction,
} from './rollups/maintenance-transaction.ts';
import { addDays, dayOf, type Day, startOf, weekOf } from './rules/days.ts';
import { isFarAhead, moveRemovalClock } from './rules/removal-clock.ts';
import { findUnsettled, firstKeptEventDay, firstKeptUsageDay } from './rules/rollup-marks.ts';

/** For so long an event is known when a client sends it again. */
export const EVENT_IDS_KEPT_DAYS = 90;

const BATCH_ROWS = 10_000;

/** What is left then is removed the next time. */
const BUDGET_MS = 2 * 60_000;

/**
 * A day is dropped while nobody reads or stores events, which those who store wait for: a moment, or else another time,
 * for a backup that is under way takes an hour.
 */
const DROP_PATIENCE_MS = 200;

type RemovalContext = ClocksContext & Pick<Context, 'config' | 'log'>;

/**
 * Removes what is older than it is kept: days of events and of use once their roll-ups are final, and ids of events. One
 * process at a time does.
 */
export async function removeOldData(ctx: RemovalContext, signal: AbortSignal): Promise<void> {
  const now = await moveClock(ctx);
  await dropEventDays(ctx, now, signal);
  const idsBefore = startOf(addDays(dayOf(now), -EVENT_IDS_KEPT_DAYS));
  const emptied = await removeInBatches(ctx, signal, (db) =>
    deleteEventIds(db, idsBefore, BATCH_ROWS),
  );
  // Ids become old at the end of a day, so this happens once on a Monday.
  if (emptied && weekOf(dayOf(now)) === dayOf(now)) await summarise(ctx, signal);
  const usageBefore = await findUsageEnd(ctx, now);
  await removeInBatches(ctx, signal, (db) => deleteUsageDays(db, usageBefore, BATCH_ROWS));
}

/** The moment from which ages are counted. */
async function moveClock(ctx: RemovalContext): Promise<Date> {
  const now = await readEarlierTime(ctx);
  const clock = moveRemovalClock(await findRemovalClock(ctx.pool), now);
  await upsertRemovalClock(ctx.pool, clock);
  if (isFarAhead(clock, now)) {
    ctx.log.error(
      { now, countedFrom: clock.reachedAt },
      'the clock is weeks ahead of the last removal of old data, and may be wrong: only little is removed; latchkey doctor tells more',
    );
  }
  return clock.reachedAt;
}

async function dropEventDays(ctx: RemovalContext, now: Date, signal: AbortSignal): Promise<void> {
  const keptFrom = firstKeptEventDay(dayOf(now), ctx.config.events.keepDays);
  const old = (await listEventDays(ctx.pool)).filter((day) => day < keptFrom);
  const waiting = new Set(findUnsettled(old, await listMarks(ctx.pool, 'events'), now));
  for (const day of old.filter((each) => !waiting.has(each))) {
    const outcome = await inRollupTransaction(ctx.pool, signal, async (client) => {
      await setLockTimeout(client, DROP_PATIENCE_MS);
      await lockEventDays(client);
      await dropEventDay(client, day);
    });
    if (outcome === BUSY) return;
  }
}

/** The day before which days of use are removed: none that waits for its roll-up is. */
async function findUsageEnd({ pool }: RemovalContext, now: Date): Promise<Day> {
  const keptFrom = firstKeptUsageDay(dayOf(now));
  const old = (await listUsageDays(pool)).filter((day) => day < keptFrom);
  return findUnsettled(old, await listMarks(pool, 'usage'), now)[0] ?? keptFrom;
}

async function summarise({ pool }: RemovalContext, signal: AbortSignal): Promise<void> {
  await inTransaction(pool, async (client) => {
    const process = await tryLockRemoval(client);
    if (process === null) return;
    await cancelOnAbort({ pool, signal }, { client, process }, () => summariseEventIds(client));
  });
}

/**
 * With pauses as long as the work, so that it never takes more than half of what the database can do. Gives whether
 * anything was removed, and nothing is left.
 */
async function removeInBatches(
  { pool }: RemovalContext,
  signal: AbortSignal,
  removeSome: (db: Queryable) => Promise<number>,
): Promise<boolean> {
  const begun = performance.now();
  let all = 0;
  while (!signal.aborted && performance.now() - begun < BUDGET_MS) {
    const batchBegun = performance.now();
    const removed = await inTransaction(pool, async (client) => {
      const process = await tryLockRemoval(client);
      if (process === null) return 0;
      return cancelOnAbort({ pool, signal }, { client, process }, () => removeSome(client));
    });
    all += removed;
    if (removed < BATCH_ROWS) return all > 0;
    await sleep(performance.now() - batchBegun, undefined, { signal });
  }
  return false;
}
