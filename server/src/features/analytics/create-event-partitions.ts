import type { Pool } from 'pg';

import {
  isConnectionFailure,
  isPartitionMissing,
  isTransientConflict,
} from '#server/db/database-errors.ts';
import { inTransactionOnce } from '#server/db/transaction.ts';
import { databaseUnavailable } from '#server/errors.ts';

import { createPartition, listPartitionDays, lockPartitions } from './queries/partitions.ts';
import { addDays, dayOf } from './rules/days.ts';

/** How long the service may be stopped, or unable to create partitions, before events are rejected. */
const DAYS_AHEAD = 7;

/** Creates the missing partitions of the present day and the next ones; returns how many. The caller retries conflicts. */
export async function createEventPartitions(pool: Pool, now: Date): Promise<number> {
  const today = dayOf(now);
  const wanted = Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => addDays(today, ahead));
  const known = new Set(await listPartitionDays(pool));
  if (wanted.every((day) => known.has(day))) return 0;
  return inTransactionOnce(pool, async (client) => {
    await lockPartitions(client);
    const present = new Set(await listPartitionDays(client));
    const missing = wanted.filter((day) => !present.has(day));
    for (const day of missing) await createPartition(client, day);
    return missing.length;
  });
}

/**
 * Runs work that stores events; if their partition is missing, creates it and runs the work again.
 * @throws databaseUnavailable when it cannot be created, for instance for lack of privileges: the client retries later
 */
export async function withEventPartition<Result>(
  pool: Pool,
  now: Date,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isPartitionMissing(error)) throw error;
    await createForToday(pool, now);
    return work();
  }
}

async function createForToday(pool: Pool, now: Date): Promise<void> {
  try {
    await createEventPartitions(pool, now);
  } catch (error) {
    // Temporary failures, which have a response of their own.
    if (isConnectionFailure(error) || isTransientConflict(error)) throw error;
    const reason = `could not create the event partition of ${dayOf(now)}; run latchkey doctor`;
    throw databaseUnavailable(new Error(reason, { cause: error }));
  }
}
