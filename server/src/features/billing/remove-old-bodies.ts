import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { deleteInBatches } from '#server/db/delete-in-batches.ts';
import type { Queryable } from '#server/db/statement.ts';

import { removeEventBodies } from './queries/events.ts';

export interface RemovalDependencies {
  readonly clock: Clock;
  readonly config: { readonly billing: { readonly rawKeepDays: number } };
  readonly pool: Pool;
  readonly readDatabaseTime: (db: Queryable) => Promise<Date>;
}

const DAY_MS = 86_400_000;

const BATCH_ROWS = 1_000;

/**
 * Removes the bodies of payment events that are older than `LATCHKEY_BILLING_RAW_KEEP_DAYS`. A body cannot be restored, so
 * its age counts by the slower clock, of the service or of the database.
 */
export async function removeOldEventBodies(
  { clock, config, pool, readDatabaseTime }: RemovalDependencies,
  signal: AbortSignal,
): Promise<void> {
  const [own, databases] = [clock.now(), await readDatabaseTime(pool)];
  const now = databases < own ? databases : own;
  const before = new Date(now.getTime() - config.billing.rawKeepDays * DAY_MS);
  await deleteInBatches(signal, BATCH_ROWS, (limit) => removeEventBodies(pool, before, now, limit));
}
