import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { deleteInBatches } from '#server/db/delete-in-batches.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';

import { deleteExpiredConfirmations } from './queries/confirmations.ts';
import { deletePendingSubscribers } from './queries/subscribers.ts';

interface CleanupDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
}

/** How long an unconfirmed subscription and an expired link are stored. */
const KEEP_MS = 30 * 86_400_000;

const BATCH_ROWS = 1_000;

/** Deletes subscribers who never confirmed, and expired confirmation links. */
export function createSubscriberCleanup({ pool, clock }: CleanupDependencies): BackgroundTask {
  return {
    name: 'subscriber_cleanup',
    scope: 'singleton',
    intervalMs: 60 * 60_000,
    event: 'subscribers.cleanup',
    action: 'delete unconfirmed subscribers',
    failureLevel: 'error',
    async run(signal) {
      const before = new Date(clock.now().getTime() - KEEP_MS);
      for (const deleteOld of [deleteExpiredConfirmations, deletePendingSubscribers]) {
        await deleteInBatches(signal, BATCH_ROWS, (limit) => deleteOld(pool, before, limit));
      }
    },
  };
}
