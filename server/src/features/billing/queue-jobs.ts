import type { Queryable } from '#server/db/statement.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import type { CustomerKey, TransactionKey } from './queries/purchases.ts';

/**
 * Queues the e-mails with the keys of transactions; jobs start when the transaction of `db` is committed. A repeated job is
 * harmless, because keys that were sent are not sent again.
 * @param runAt the earliest start; a later call overrides it
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

/** Queues look-ups of customers at their provider, at most one for each; `runAt` is the earliest start. */
export async function queueCustomerLookUps(
  db: Queryable,
  customers: readonly CustomerKey[],
  runAt?: Date,
): Promise<void> {
  await addJobs(
    db,
    customers.map(({ provider, customerId }) => ({
      name: 'look_up_customer',
      payload: { provider, customerId },
      key: `${provider}:${customerId}`,
      ...(runAt === undefined ? {} : { runAt }),
    })),
  );
}
