import type { Context } from '#server/context.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import { deleteOldIdempotencyKeys } from './queries/idempotency-keys.ts';
import { deleteOldMessages } from './queries/messages.ts';
import { ANSWER_KEPT_MS } from './send-once.ts';

/** For questions about what was sent: by the id of a message, or the HMAC of an address. */
const MESSAGES_KEPT_MS = 30 * 24 * 60 * 60_000;

const INTERVAL_MS = 60 * 60_000;

/** In one statement, so that none takes long. */
const MAX_DELETED = 5_000;

/** All processes together do this once in a while, for a job with a key is there once. */
const ONLY_ONE = 'only';

/** Begins the job that follows itself, at the start of the service; where nothing is sent there is nothing to delete. */
export async function beginOutreachUpkeep({
  pool,
  outreachMail,
}: Pick<Context, 'pool' | 'outreachMail'>): Promise<void> {
  if (outreachMail === null) return;
  await addJobs(pool, [{ name: 'delete_old_outreach', payload: {}, key: ONLY_ONE }]);
}

/** Deletes answers that are no longer kept for repeated requests, and messages of long ago. */
export async function deleteOldOutreach(
  { pool, clock }: Pick<Context, 'pool' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const before = (milliseconds: number): Date => new Date(clock.now().getTime() - milliseconds);
  try {
    await deleteAll(signal, () =>
      deleteOldIdempotencyKeys(pool, before(ANSWER_KEPT_MS), MAX_DELETED),
    );
    await deleteAll(signal, () => deleteOldMessages(pool, before(MESSAGES_KEPT_MS), MAX_DELETED));
  } finally {
    const runAt = new Date(clock.now().getTime() + INTERVAL_MS);
    await addJobs(pool, [{ name: 'delete_old_outreach', payload: {}, key: ONLY_ONE, runAt }]);
  }
}

async function deleteAll(signal: AbortSignal, deleteSome: () => Promise<number>): Promise<void> {
  while (!signal.aborted && (await deleteSome()) === MAX_DELETED);
}
