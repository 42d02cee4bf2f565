import type { Customer } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Vault } from '#server/lib/vault.ts';

import { listAuditEntries, type AuditEntry } from '../audit/queries.ts';
import { licenseStatus, publicExpiry } from '../licenses/rules/status.ts';
import { findSubscriber } from '../subscribers/queries/subscribers.ts';
import { findSuppression } from '../suppressions/queries/suppressions.ts';
import { findSharedDevices, toAddress } from './find-person.ts';
import { findMachines } from './queries/find-person.ts';
import {
  listAccountsOf,
  listLicensesOf,
  listMachinesOf,
  listMailsOf,
  listPaymentsOf,
  listSubscriptionsOf,
  type CustomerLicense,
} from './queries/overview.ts';
import type { Address, Person, SharedDevice } from './facts.ts';

interface ShowDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly vault: Vault;
}

/**
 * Shows what belongs to the owner of an address, by indexes only. Unlike `readPersonalData`, it does not search the bodies of
 * payment events.
 */
export async function showCustomer(
  { clock, pool, vault }: ShowDependencies,
  email: string,
): Promise<Customer> {
  const address = toAddress(vault, email);
  const now = clock.now();
  const licenses = await listLicensesOf(pool, address.spellings);
  const accounts = await listAccountsOf(pool, address.spellings);
  const licenseIds = licenses.map(({ id }) => id);
  const payments = await listPaymentsOf(pool, licenseIds, accounts);
  const subscriptions = await listSubscriptionsOf(pool, licenseIds, accounts);
  return {
    email,
    id: address.id,
    licenses: licenses.map((license) => viewLicense(license, now)),
    machines: (await listMachinesOf(pool, licenseIds)).map((machine) => ({
      machine_id: machine.machineId,
      install_id: machine.installId,
      license_id: machine.licenseId,
      is_active: machine.isActive,
      last_seen_at: machine.lastSeenAt.toISOString(),
    })),
    ...viewSharedDevices(await findSharedDevices(pool, await findMachines(pool, licenseIds))),
    payments: payments.map((payment) => ({
      transaction_id: payment.transactionId,
      provider: payment.provider,
      origin: payment.origin,
      total: payment.total,
      currency: payment.currency,
      subscription_id: payment.subscriptionId,
      occurred_at: payment.occurredAt.toISOString(),
    })),
    subscriptions: subscriptions.map((subscription) => ({
      subscription_id: subscription.subscriptionId,
      provider: subscription.provider,
      status: subscription.status,
      occurred_at: subscription.occurredAt.toISOString(),
    })),
    accounts: accounts.map(({ customerId, locale, name, provider }) => ({
      provider,
      customer_id: customerId,
      name,
      locale,
    })),
    mails: (await listMailsOf(pool, payments, address)).map(({ at, ...mail }) => ({
      ...mail,
      at: at.toISOString(),
    })),
    newsletter: await findNewsletter(pool, address),
    suppressed: await findSuppressed(pool, address),
    changes: (await listAuditEntries(pool, address.id)).map(viewChange).toReversed(),
  };
}

/** Shows the installs and machines that others' licenses were activated on, too. */
export function viewSharedDevices({
  sharedInstalls,
  sharedMachines,
}: Pick<Person, 'sharedInstalls' | 'sharedMachines'>): Pick<
  Customer,
  'shared_installs' | 'shared_machines'
> {
  return {
    shared_installs: sharedInstalls.slice(0, MAX_SHARED_SHOWN).map(viewShared),
    shared_machines: sharedMachines.slice(0, MAX_SHARED_SHOWN).map(viewShared),
  };
}

function viewShared({ id, otherLicenses }: SharedDevice) {
  return { id, other_licenses: otherLicenses };
}

const MAX_SHARED_SHOWN = 200;

function viewLicense(license: CustomerLicense, now: Date): Customer['licenses'][number] {
  return {
    id: license.id,
    product_id: license.productId,
    key_hint: license.keyHint,
    status: licenseStatus(license, now),
    customer_name: license.customerName,
    created_at: license.createdAt.toISOString(),
    expires_at: publicExpiry(license, now)?.toISOString() ?? null,
    active_machines: license.activeMachines,
    max_activations: license.maxActivations,
  };
}

function viewChange({
  occurredAt,
  ...entry
}: Pick<AuditEntry, 'occurredAt' | 'actor' | 'action' | 'reason'>): Customer['changes'][number] {
  return { occurred_at: occurredAt.toISOString(), ...entry };
}

/** Under any master secret: during a rotation the row may have an older hash. */
async function findNewsletter(pool: Pool, { hashes }: Address): Promise<Customer['newsletter']> {
  for (const hash of hashes) {
    const found = await findSubscriber(pool, hash);
    if (found === null) continue;
    return {
      id: found.id,
      subscribed_at: found.subscribedAt.toISOString(),
      confirmed_at: found.confirmedAt?.toISOString() ?? null,
      language: found.language,
    };
  }
  return null;
}

async function findSuppressed(pool: Pool, { hashes }: Address): Promise<Customer['suppressed']> {
  for (const hash of hashes) {
    const found = await findSuppression(pool, hash);
    if (found === null) continue;
    return { reason: found.reason, suppressed_at: found.suppressedAt.toISOString() };
  }
  return null;
}
