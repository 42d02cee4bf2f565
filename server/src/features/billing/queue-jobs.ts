import type { Queryable } from '#server/db/statement.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import type { TransactionKey } from './key-emails/queries.ts';

/**
 * Has the keys of transactions sent to their buyers, when the caller's transaction is committed. Asked for again it does
 * no harm: what was sent is not sent again.
 * @param runAt not before this moment, unless it is asked for again
 */
export async function queueKeyEmails(
  db: Queryable,
  transactions: readonly TransactionKey[],
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

/** Who is looked up, by the provider's id. */
export interface CustomerKey {
  readonly provider: string;
  readonly customerId: string;
}

/** Has customers looked up at their provider when the caller's transaction is committed; the same one only once. */
export async function queueCustomerLookUps(
  db: Queryable,
  customers: readonly CustomerKey[],
): Promise<void> {
  await addJobs(
    db,
    customers.map(({ provider, customerId }) => ({
      name: 'look_up_customer',
      payload: { provider, customerId },
      key: `${provider}:${customerId}`,
    })),
  );
}
