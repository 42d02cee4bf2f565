import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { insertAuditEntry } from '#server/features/audit/queries.ts';

import { listJobs, retryJobs } from './queries.ts';

/** What is tried again by hand, and by whom. */
export interface JobRetry {
  /** `given_up`: every job that was. */
  readonly ids: readonly number[] | 'given_up';
  readonly actor: string;
  readonly reason: string | null;
}

const MAX_AT_ONCE = 10_000;

/** Lets jobs begin at once with a full number of tries, and leaves an audit row. Gives how many; those under way stay. */
export async function retryJobsByHand(
  ctx: Pick<Context, 'pool' | 'clock'>,
  { ids, actor, reason }: JobRetry,
): Promise<number> {
  return inTransaction(ctx.pool, async (client) => {
    const chosen =
      ids === 'given_up'
        ? (await listJobs(client, ['given_up'], MAX_AT_ONCE)).map((job) => job.id)
        : ids;
    const retried = await retryJobs(client, chosen);
    if (retried === 0) return 0;
    await insertAuditEntry(client, {
      actor,
      reason,
      occurredAt: ctx.clock.now(),
      action: 'jobs.retry',
      subjectId: ids === 'given_up' ? 'given_up' : ids.join(','),
      details: { retried },
    });
    return retried;
  });
}
