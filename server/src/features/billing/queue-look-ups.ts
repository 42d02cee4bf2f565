import type { Queryable } from '#server/db/statement.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

/** Who is looked up, by the provider's id. */
export interface CustomerName {
  readonly provider: string;
  readonly customerId: string;
}

/** Has customers looked up at their provider when the caller's transaction is committed; the same one only once. */
export async function queueLookUps(
  db: Queryable,
  customers: readonly CustomerName[],
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
