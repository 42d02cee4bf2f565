import type { ArchiveLocation } from '@latchkey/contract';

import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { eraseInstall, eraseMachine } from '../analytics/installs/erase.ts';
import { listArchives } from '../analytics/installs/list-archives.ts';
import { insertAuditEntry } from '../audit/queries.ts';
import { deleteOwnerEmails } from '../key-emails/owner-email-queries.ts';
import { deleteCodes } from '../buyers/queries/codes.ts';
import { lockBilling } from '../billing/queries/ledger.ts';
import type { LicenseChangeDependencies } from '../licenses/dependencies.ts';
import { lockLicense, updateLicenseFacts } from '../licenses/queries/licenses.ts';
import { recordLicenseChanges } from '../outgoing-webhooks/record-events.ts';
import { anonymizeMessages } from '../outreach/queries/messages.ts';
import { deleteRecipient } from '../outreach/queries/recipients.ts';
import { deleteConfirmations } from '../subscribers/queries/confirmations.ts';
import { deleteSubscriber } from '../subscribers/queries/subscribers.ts';
import { insertSuppression, lockAddress } from '../suppressions/queries/suppressions.ts';
import type { EventKey, Person } from './facts.ts';
import { removeBodies } from './queries/bodies.ts';
import {
  clearCustomers,
  clearKeyEmails,
  clearLedger,
  deleteAddressRepairs,
  clearLicenses,
  clearMessages,
  clearSeats,
  removeJobs,
} from './queries/erase.ts';
import type { PersonalData } from './personal-data.ts';
import { describeIncluded, listLeftOut } from './rules/select-devices.ts';

/** A manual erasure; `revoke` also revokes the licenses. */
export interface CustomerErasure {
  readonly actor: string;
  readonly reason: string;
  readonly revoke: boolean;
}

/** The counts of an erasure. */
interface ErasureCounts {
  readonly licenses: number;
  readonly removedBodies: number;
  /** Of payment events that were not applied. */
  readonly keptBodies: number;
  /** Shared installs and machines whose data was kept. */
  readonly keptInstalls: number;
  readonly keptMachines: number;
}

export interface ErasureResult extends ErasureCounts {
  /** Archives that may contain events of the person's installs. */
  readonly archives: ArchiveLocation[];
}

/** Bodies in one statement. */
const MAX_BODIES = 500;

/**
 * Erases a person: addresses, names, notes, bodies of payment events, events and days of use, newsletter subscription.
 * Data of shared installs and machines stays, unless the person was read with them. Licenses stay without their customer (revoked on demand), and so do payments and subscriptions without their buyer, the
 * address's HMAC as a suppression, and audit rows without the address.
 *
 * Rows that lead from the address to other rows are erased last, in one transaction, so that an interrupted erasure can be
 * repeated.
 */
export async function eraseCustomer(
  deps: LicenseChangeDependencies,
  { person, events, unapplied }: PersonalData,
  erasure: CustomerErasure,
): Promise<ErasureResult> {
  const { actor, reason } = erasure;
  const removedBodies = await removeAllBodies(deps, events);
  for (const id of person.installIds) await eraseInstall(deps, { id, actor, reason });
  for (const id of person.machineIds) await eraseMachine(deps, { id, actor, reason });
  const counts = {
    licenses: person.licenseIds.length,
    removedBodies,
    keptBodies: unapplied,
    keptInstalls: listLeftOut(person.sharedInstalls, person.installIds).length,
    keptMachines: listLeftOut(person.sharedMachines, person.machineIds).length,
  };
  await inTransaction(deps.pool, (client) => eraseRows(deps, client, person, erasure, counts));
  const archives = person.installIds.length === 0 ? [] : await listArchives(deps);
  return { ...counts, archives };
}

async function removeAllBodies(
  { pool, clock }: LicenseChangeDependencies,
  events: readonly EventKey[],
): Promise<number> {
  let removed = 0;
  for (let start = 0; start < events.length; start += MAX_BODIES) {
    removed += await removeBodies(pool, events.slice(start, start + MAX_BODIES), clock.now());
  }
  return removed;
}

/** Locks billing first, as everywhere, so that no payment writes to the rows. */
async function eraseRows(
  deps: LicenseChangeDependencies,
  client: Queryable,
  person: Person,
  erasure: CustomerErasure,
  result: ErasureCounts,
): Promise<void> {
  const { address } = person;
  const now = deps.clock.now();
  await lockBilling(client);
  await lockAddress(client, address.hash);
  await clearLicenses(client, person.licenseIds);
  await clearSeats(client, person.licenseIds);
  await clearCustomers(client, person.customers, now);
  await clearLedger(client, person.ledger, address.spellings);
  await deleteAddressRepairs(client, address.spellings);
  await clearKeyEmails(client, person.keyEmails);
  await clearMessages(client, person.messageIds);
  await removeJobs(client, person);
  await deleteOwnerEmails(client, address.spellings);
  const suppression = { addressHash: address.hash, reason: 'erased', suppressedAt: now } as const;
  await insertSuppression(client, suppression);
  for (const hash of address.hashes) {
    await deleteSubscriber(client, hash);
    await deleteConfirmations(client, hash);
    await deleteCodes(client, hash);
    await anonymizeMessages(client, hash);
    await deleteRecipient(client, hash);
  }
  const revoked = erasure.revoke ? await revokeLicenses(deps, client, person.licenseIds, now) : [];
  await insertAuditEntries(client, person, erasure, { now, result, revoked });
}

/**
 * Runs after the customers were removed, so that no endpoint receives the address.
 * @returns the ids of the licenses that were not revoked before
 */
async function revokeLicenses(
  deps: LicenseChangeDependencies,
  client: Queryable,
  licenseIds: readonly string[],
  now: Date,
): Promise<string[]> {
  const revoked: string[] = [];
  for (const id of licenseIds) {
    const before = await lockLicense(client, id);
    if (before === null || before.revokedAt !== null) continue;
    const after = { ...before, revokedAt: now };
    await updateLicenseFacts(client, after);
    await recordLicenseChanges(deps, client, [{ before, after }], now);
    revoked.push(id);
  }
  return revoked;
}

/** Stores an audit row for each revocation, one for the person, by the id of the address, and one for each license. */
async function insertAuditEntries(
  client: Queryable,
  person: Person,
  { actor, reason, revoke }: CustomerErasure,
  done: {
    readonly now: Date;
    readonly result: ErasureCounts;
    readonly revoked: readonly string[];
  },
): Promise<void> {
  const { address, licenseIds } = person;
  const { now, result, revoked } = done;
  const entry = { occurredAt: now, actor, reason, action: 'customer.erase' };
  const details = {
    revoke,
    licenses: result.licenses,
    removed_bodies: result.removedBodies,
    kept_bodies: result.keptBodies,
    kept_installs: result.keptInstalls,
    kept_machines: result.keptMachines,
    ...describeIncluded(person),
  };
  for (const subjectId of revoked) {
    await insertAuditEntry(client, { ...entry, action: 'license.revoke', subjectId, details: {} });
  }
  await insertAuditEntry(client, { ...entry, subjectId: address.id, details });
  for (const subjectId of licenseIds) {
    await insertAuditEntry(client, { ...entry, subjectId, details: { revoke } });
  }
}
