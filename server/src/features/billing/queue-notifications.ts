import type { Clock } from '#server/clock.ts';
import type { Queryable } from '#server/db/statement.ts';

import type { LicenseRecord } from '../licenses/queries/licenses.ts';
import {
  recordLicenseChanges,
  type EventDependencies,
} from '../outgoing-webhooks/record-events.ts';
import { queueCustomerLookUps, queueKeyEmails } from './queue-jobs.ts';
import type { SyncedLicense, SyncedLicenses } from './sync-licenses.ts';

export type NotificationDependencies = EventDependencies & { readonly clock: Clock };

/**
 * Queues what follows from created and changed licenses: e-mails with keys, look-ups of buyers without an address, and
 * outgoing webhooks.
 * @param client in the transaction of the licenses, so that neither is committed without the other
 */
export async function queueNotifications(
  deps: NotificationDependencies,
  client: Queryable,
  { created, changed }: SyncedLicenses,
): Promise<void> {
  const sendable = changed.filter(
    ({ before, license }) =>
      isSendable(license) &&
      // A mail relay may have refused the previous address.
      (!isSendable(before) || before.customerEmail !== license.customerEmail),
  );
  const emails = [...created, ...sendable];
  if (emails.length > 0) await queueKeyEmails(client, emails);
  await lookUpMissingAddresses(client, created);
  const changes = [
    ...created.map(({ license }) => ({ before: null, after: license })),
    ...changed.map(({ before, license }) => ({ before, after: license })),
  ];
  if (changes.length > 0) await recordLicenseChanges(deps, client, changes, deps.clock.now());
}

/** Whether the license has an address and a usable key. */
function isSendable(license: LicenseRecord): boolean {
  const { customerEmail, refundedAt, disputedAt, canceledAt } = license;
  return customerEmail !== null && (refundedAt ?? disputedAt ?? canceledAt) === null;
}

async function lookUpMissingAddresses(
  client: Queryable,
  created: readonly SyncedLicense[],
): Promise<void> {
  const customers = created.flatMap(({ license, provider, customerId }) =>
    license.customerEmail !== null || customerId === null ? [] : [{ provider, customerId }],
  );
  if (customers.length > 0) await queueCustomerLookUps(client, customers);
}
