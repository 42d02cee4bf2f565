import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { listJobs, retryJobs } from '#server/jobs/queries.ts';

import { insertAuditEntry } from '../audit/queries.ts';

/** An operator's request to retry jobs. */
export interface JobRetry {
  /** `failed`: all that exhausted their attempts. */
  readonly ids: readonly number[] | 'failed';
  readonly actor: string;
  readonly reason: string | null;
}

const MAX_RETRIED = 10_000;

/**
 * Makes jobs due now with all their attempts, and writes an audit row. Returns how many; running jobs stay unchanged.
 */
export async function retryJobsManually(
  { pool, clock }: { readonly pool: Pool; readonly clock: Clock },
  { ids, actor, reason }: JobRetry,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    const chosen =
      ids === 'failed'
        ? (await listJobs(client, ['failed'], MAX_RETRIED)).map((job) => job.id)
        : ids;
    const retried = await retryJobs(client, chosen);
    if (retried === 0) return 0;
    await insertAuditEntry(client, {
      actor,
      reason,
      occurredAt: clock.now(),
      action: 'jobs.retry',
      subjectId: ids === 'failed' ? 'failed' : ids.join(','),
      details: { retried },
    });
    return retried;
  });
}
