import type { Queryable } from '#server/db/statement.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import type { LicenseRecord } from '../licenses/queries/licenses.ts';
import { recordLicenseChanges } from '../outgoing-webhooks/record-events.ts';
import type { ApplyDependencies } from './dependencies.ts';
import type { EventKey } from './facts.ts';
import type { CustomerKey, TransactionKey } from './queries/purchases.ts';
import type { Purchase } from './rules/group-purchases.ts';
import type { SyncedLicense, SyncedLicenses } from './sync-licenses.ts';

/**
 * Queues the e-mails with the keys of transactions; jobs start when the transaction of `db` is committed. A repeated
 * job is harmless, because keys that were sent are not sent again.
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
      runAt,
    })),
  );
}

/** Queues the notes to the payers of gifts whose keys were sent, at most one for each. */
export async function queueGiftNotes(
  db: Queryable,
  transactions: readonly TransactionKey[],
): Promise<void> {
  await addJobs(
    db,
    transactions.map(({ provider, transactionId }) => ({
      name: 'send_gift_note',
      payload: { provider, transactionId },
      key: `${provider}:${transactionId}`,
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
      runAt,
    })),
  );
}

/** A checkout whose lines no event reported. */
export interface OpenCheckout {
  readonly provider: 'stripe' | 'stripe:test';
  readonly transactionId: string;
  readonly checkoutId: string;
}

/** Queues look-ups of checkouts at their provider, at most one for each; `runAt` is the earliest start. */
export async function queueCheckoutLookUps(
  db: Queryable,
  checkouts: readonly OpenCheckout[],
  runAt?: Date,
): Promise<void> {
  await addJobs(
    db,
    checkouts.map((payload) => ({
      name: 'look_up_checkout',
      payload,
      key: `${payload.provider}:${payload.checkoutId}`,
      runAt,
    })),
  );
}

/** Queues look-ups of the facts of stored events, at most one for each; `runAt` is the earliest start. */
export async function queueEventLookUps(
  db: Queryable,
  events: readonly EventKey[],
  runAt?: Date,
): Promise<void> {
  await addJobs(
    db,
    events.map(({ provider, eventId }) => ({
      name: 'look_up_event',
      payload: { provider, eventId },
      key: `${provider}:${eventId}`,
      runAt,
    })),
  );
}

/** Lists the paid checkouts of Stripe whose events do not report what they sold. */
function listOpenCheckouts(purchases: readonly Purchase[]): OpenCheckout[] {
  return purchases.flatMap(({ facts: { provider, payments } }) => {
    if (provider !== 'stripe' && provider !== 'stripe:test') return [];
    return payments.flatMap(({ origin, problem, transactionId, checkoutId }) =>
      origin === 'purchase' && problem !== undefined && checkoutId !== undefined
        ? [{ provider, transactionId, checkoutId }]
        : [],
    );
  });
}

/**
 * Queues the jobs and messages for created and changed licenses: e-mails with keys, look-ups of buyers without an
 * address, and outgoing webhooks.
 * @param client in the transaction of the licenses, so that neither is committed without the other
 */
export async function queueNotifications(
  deps: ApplyDependencies,
  client: Queryable,
  { licenses, purchases, unknownCustomers }: SyncedLicenses,
): Promise<void> {
  await queueKeyEmails(client, licenses.filter(isNewlySendable));
  const withoutAddress = licenses.flatMap(({ before, license, provider, customerId }) =>
    before !== null || license.customerEmail !== null || customerId === null
      ? []
      : [{ provider, customerId }],
  );
  await queueCustomerLookUps(client, [...withoutAddress, ...unknownCustomers]);
  if (deps.stripeApi !== null) await queueCheckoutLookUps(client, listOpenCheckouts(purchases));
  const changes = licenses.map(({ before, license }) => ({ before, after: license }));
  await recordLicenseChanges(deps, client, changes, deps.clock.now());
}

/** Also after a change of the address, because a mail relay may have refused the previous one. */
function isNewlySendable({ before, license }: SyncedLicense): boolean {
  if (before === null) return true;
  if (!isSendable(license)) return false;
  return !isSendable(before) || before.customerEmail !== license.customerEmail;
}

/** Whether the license has an address and a usable key. */
function isSendable(license: LicenseRecord): boolean {
  const { customerEmail, refundedAt, disputedAt, canceledAt } = license;
  return customerEmail !== null && (refundedAt ?? disputedAt ?? canceledAt) === null;
}
