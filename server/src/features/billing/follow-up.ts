import type { Queryable } from '#server/db/statement.ts';
import { addJobs, type NewJob } from '#server/jobs/add-job.ts';

import type { SettledPurchases } from './settle-purchases.ts';

/**
 * Has the buyers of new licenses sent their keys, and those looked up of whom no address is known; also when an
 * address has become known since, or another one: the first may have been wrong. The jobs lie in the transaction of the licenses, so there is never one without the other.
 */
export async function followUp(
  client: Queryable,
  { created, changed }: SettledPurchases,
): Promise<void> {
  const jobs = new Map<string, NewJob>();
  const reached = changed.filter(
    ({ before, license }) =>
      license.customerEmail !== null && license.customerEmail !== before.customerEmail,
  );
  for (const { provider, transactionId } of [...created, ...reached]) {
    const key = `${provider}:${transactionId}`;
    jobs.set(`mail ${key}`, { name: 'send_key_email', payload: { provider, transactionId }, key });
  }
  for (const { license, provider, customerId } of created) {
    if (license.customerEmail !== null || customerId === null) continue;
    const key = `${provider}:${customerId}`;
    jobs.set(`customer ${key}`, {
      name: 'look_up_customer',
      payload: { provider, customerId },
      key,
    });
  }
  if (jobs.size > 0) await addJobs(client, [...jobs.values()]);
}
