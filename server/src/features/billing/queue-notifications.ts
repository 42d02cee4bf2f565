import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';

import type { LicenseRecord } from '../licenses/queries/licenses.ts';
import { recordLicenseChanges } from '../outgoing-webhooks/record-events.ts';
import { queueKeyEmails, queueCustomerLookUps } from './queue-jobs.ts';
import type { SyncedLicense, SyncedLicenses } from './sync-licenses.ts';

/** What follows from licenses that were made or changed needs of the context. */
type FollowUpContext = Pick<Context, 'catalog' | 'clock' | 'wantedEvents'>;

/**
 * Has the buyers of new licenses sent their keys, and those looked up of whom no address is known; and tells the endpoints
 * of outgoing webhooks. All of it lies in the transaction of the licenses, so there is never one without the other.
 */
export async function queueNotifications(
  ctx: FollowUpContext,
  client: Queryable,
  { created, changed }: SyncedLicenses,
): Promise<void> {
  const sendable = changed.filter(
    ({ before, license }) =>
      isSendable(license) &&
      // A relay may have refused the first address.
      (!isSendable(before) || before.customerEmail !== license.customerEmail),
  );
  const mails = [...created, ...sendable];
  if (mails.length > 0) await queueKeyEmails(client, mails);
  await lookUpUnknown(client, created);
  const changes = [
    ...created.map(({ license }) => ({ before: null, after: license })),
    ...changed.map(({ before, license }) => ({ before, after: license })),
  ];
  if (changes.length > 0) await recordLicenseChanges(ctx, client, changes, ctx.clock.now());
}

/** Whether its key can be sent and is worth having. */
function isSendable(license: LicenseRecord): boolean {
  const { customerEmail, refundedAt, disputedAt, canceledAt } = license;
  return customerEmail !== null && (refundedAt ?? disputedAt ?? canceledAt) === null;
}

async function lookUpUnknown(client: Queryable, created: readonly SyncedLicense[]): Promise<void> {
  const unknown = created.flatMap(({ license, provider, customerId }) =>
    license.customerEmail !== null || customerId === null ? [] : [{ provider, customerId }],
  );
  if (unknown.length > 0) await queueCustomerLookUps(client, unknown);
}
