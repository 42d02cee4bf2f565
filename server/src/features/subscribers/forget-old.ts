import type { Context } from '#server/context.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import { deleteExpiredConfirmations } from './queries/confirmations.ts';
import { deletePendingSubscribers } from './queries/subscribers.ts';

/** For how long a subscription that nobody confirms is kept, and a link that is over. */
const KEEP_MS = 30 * 86_400_000;

const INTERVAL_MS = 60 * 60_000;

/** In one statement, so that none takes long. */
const MAX_DELETED = 1_000;

/** All processes together do this once in a while, for a job with a key is there once. */
const ONLY_ONE = 'only';

/** Begins the job that follows itself, at the start of the service. */
export async function beginToForgetOld({ pool }: Pick<Context, 'pool'>): Promise<void> {
  await addJobs(pool, [{ name: 'forget_old_subscribers', payload: {}, key: ONLY_ONE }]);
}

/** Forgets who asked for news and never confirmed it: what he did not agree to is not kept. */
export async function forgetOld(
  { pool, clock }: Pick<Context, 'pool' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const before = new Date(clock.now().getTime() - KEEP_MS);
  try {
    await deleteAll(signal, () => deleteExpiredConfirmations(pool, before, MAX_DELETED));
    await deleteAll(signal, () => deletePendingSubscribers(pool, before, MAX_DELETED));
  } finally {
    const runAt = new Date(clock.now().getTime() + INTERVAL_MS);
    await addJobs(pool, [{ name: 'forget_old_subscribers', payload: {}, key: ONLY_ONE, runAt }]);
  }
}

async function deleteAll(signal: AbortSignal, deleteSome: () => Promise<number>): Promise<void> {
  while (!signal.aborted && (await deleteSome()) === MAX_DELETED);
}
