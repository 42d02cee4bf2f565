import type { Queryable } from '#server/db/statement.ts';

import { deleteExpiredConfirmations } from './queries/confirmations.ts';
import { deletePendingSubscribers } from './queries/subscribers.ts';

/** For how long a subscription that nobody confirms is kept, and a link that is over. */
const KEEP_MS = 30 * 86_400_000;

/** At once; the next call goes on. */
const LIMIT = 100;

/** Forgets who asked for news and never confirmed it: what he did not agree to is not kept. */
export async function forgetOld(db: Queryable, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEEP_MS);
  await deleteExpiredConfirmations(db, before, LIMIT);
  await deletePendingSubscribers(db, before, LIMIT);
}
