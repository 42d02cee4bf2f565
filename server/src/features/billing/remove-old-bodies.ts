import type { Context } from '#server/context.ts';
import { deleteInBatches } from '#server/db/delete-in-batches.ts';

import { removeEventBodies } from './queries/events.ts';

const DAY_MS = 86_400_000;

const BATCH_ROWS = 1_000;

type RemovalContext = Pick<Context, 'clock' | 'config' | 'pool' | 'readDatabaseTime'>;

/**
 * Removes the bodies of payment events that are older than `LATCHKEY_BILLING_RAW_KEEP_DAYS`. A body cannot be restored, so
 * its age counts by the slower of the service's and the database's clock.
 */
export async function removeOldEventBodies(
  ctx: RemovalContext,
  signal: AbortSignal,
): Promise<void> {
  const [own, databases] = [ctx.clock.now(), await ctx.readDatabaseTime(ctx.pool)];
  const now = databases < own ? databases : own;
  const before = new Date(now.getTime() - ctx.config.billing.rawKeepDays * DAY_MS);
  await deleteInBatches(signal, BATCH_ROWS, (limit) =>
    removeEventBodies(ctx.pool, before, now, limit),
  );
}
