import type { Context } from '#server/context.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import { removeEventBodies } from './queries/events.ts';

const DAY_MS = 86_400_000;
const INTERVAL_MS = 60 * 60_000;

/** In one statement, so that none takes long. */
const MAX_REMOVED = 1_000;

/** All processes together do this once an hour, for a job with a key exists once. */
const SINGLETON_KEY = 'only';

type RemovalContext = Pick<Context, 'clock' | 'config' | 'pool' | 'readDatabaseTime'>;

/**
 * Schedules the recurring removal of old event bodies, at the start of the service; also where no payments are taken any
 * more, since bodies of earlier ones may be stored.
 */
export async function scheduleBodyRemoval({ pool }: Pick<Context, 'pool'>): Promise<void> {
  await addJobs(pool, [{ name: 'remove_old_event_bodies', payload: {}, key: SINGLETON_KEY }]);
}

/**
 * Removes the bodies of payment events that are older than `LATCHKEY_BILLING_RAW_KEEP_DAYS`, and schedules the next run.
 * A body cannot be restored, so its age counts by the slower of the service's and the database's clock.
 */
export async function removeOldEventBodies(
  ctx: RemovalContext,
  signal: AbortSignal,
): Promise<void> {
  try {
    const [own, databases] = [ctx.clock.now(), await ctx.readDatabaseTime(ctx.pool)];
    const now = databases < own ? databases : own;
    const before = new Date(now.getTime() - ctx.config.billing.rawKeepDays * DAY_MS);
    while (!signal.aborted) {
      const removed = await removeEventBodies(ctx.pool, before, now, MAX_REMOVED);
      if (removed < MAX_REMOVED) break;
    }
  } finally {
    const runAt = new Date(ctx.clock.now().getTime() + INTERVAL_MS);
    const next = {
      name: 'remove_old_event_bodies',
      payload: {},
      key: SINGLETON_KEY,
      runAt,
    } as const;
    await addJobs(ctx.pool, [next]);
  }
}
