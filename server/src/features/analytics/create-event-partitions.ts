import type { Pool } from 'pg';
import {
  isConnectionFailure,
  isPartitionMissing,
  isTransientConflict,
} from '#server/db/database-errors.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { databaseUnavailable } from '#server/errors.ts';
import { createEventDay, listEventDays, lockEventDays } from './queries/partitions.ts';
import { addDays, dayOf } from './rules/days.ts';

/** So long the service may stand still, or be unable to make days, without an event that has to wait for its day. */
const DAYS_AHEAD = 7;

/** Makes the days from `now` on that are not there yet, and gives how many it made. */
export async function makeEventDays(pool: Pool, now: Date): Promise<number> {
  const today = dayOf(now);
  const wanted = Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => addDays(today, ahead));
  const known = new Set(await listEventDays(pool));
  if (wanted.every((day) => known.has(day))) return 0;
  return inTransaction(pool, async (client) => {
    await lockEventDays(client);
    const present = new Set(await listEventDays(client));
    const missing = wanted.filter((day) => !present.has(day));
    for (const day of missing) await createEventDay(client, day);
    return missing.length;
  });
}

/**
 * Runs work that stores events; when their day has no place yet, makes it and runs the work again.
 * @throws databaseUnavailable when it cannot be made, for instance by a role that may not create tables: the events are to
 * be sent again
 */
export async function withEventDay<Result>(
  pool: Pool,
  now: Date,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isPartitionMissing(error)) throw error;
    await makePlace(pool, now);
    return work();
  }
}

async function makePlace(pool: Pool, now: Date): Promise<void> {
  try {
    await makeEventDays(pool, now);
  } catch (error) {
    // These come back by themselves, and are told as what they are.
    if (isConnectionFailure(error) || isTransientConflict(error)) throw error;
    const reason = `no place can be made for the events of ${dayOf(now)}; latchkey doctor tells more`;
    throw databaseUnavailable(new Error(reason, { cause: error }));
  }
}
