import type { Queryable } from '#server/db/statement.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import type { KeyEmailName } from './queries.ts';

/**
 * Has the keys of transactions sent to their buyers, when the caller's transaction is committed. Asked for again it does
 * no harm: what was sent is not sent again.
 * @param runAt not before this moment, unless it is asked for again
 */
export async function queueKeyEmails(
  db: Queryable,
  transactions: readonly KeyEmailName[],
  runAt?: Date,
): Promise<void> {
  await addJobs(
    db,
    transactions.map(({ provider, transactionId }) => ({
      name: 'send_key_email',
      payload: { provider, transactionId },
      key: `${provider}:${transactionId}`,
      ...(runAt === undefined ? {} : { runAt }),
    })),
  );
}
