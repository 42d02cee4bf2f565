import type { Clock } from '#server/clock.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import type { Vault } from '#server/lib/vault.ts';

import { insertAuditEntry, type AuditEntry } from '../audit/queries.ts';
import { anonymizeMessages } from '../outreach/queries/messages.ts';
import { deleteRecipient } from '../outreach/queries/recipients.ts';
import { hashAddress, hashAddressUnderAll, subscriberIdOf } from '../suppressions/address-hash.ts';
import { deleteSuppression, insertSuppression } from '../suppressions/queries.ts';
import { rewriteAddresses, type AddressDependencies } from '../suppressions/stored-addresses.ts';
import { deleteConfirmations } from './queries/confirmations.ts';
import { deleteSubscriber, lockAddress } from './queries/subscribers.ts';

export interface ManualChangeDependencies extends AddressDependencies {
  readonly clock: Clock;
}

/** Also the id of the master secret, to determine under which one a row is stored. */
interface LiftDependencies extends ManualChangeDependencies {
  readonly vault: ManualChangeDependencies['vault'] & Pick<Vault, 'secretId'>;
}

/** A change by an operator. */
export interface ManualChange {
  readonly email: string;
  readonly actor: string;
  readonly reason: string;
}

/** Suppresses newsletter and outreach for an address until an operator lifts the suppression. */
export async function suppressManually(
  deps: ManualChangeDependencies,
  change: ManualChange,
): Promise<void> {
  await changeAddress(deps, change, async (db, { addressHash, now }) => {
    await insertSuppression(db, { addressHash, reason: 'by_hand', suppressedAt: now });
    return { action: 'suppression.add', details: {} };
  });
}

/**
 * Unsubscribes an address at the request of its owner, who can subscribe again, unlike after a suppression. Another
 * suppression remains.
 */
export async function unsubscribeManually(
  deps: ManualChangeDependencies,
  change: ManualChange,
): Promise<void> {
  await changeAddress(deps, change, async (db, { addressHash, now }) => {
    await insertSuppression(db, { addressHash, reason: 'unsubscribed', suppressedAt: now });
    return { action: 'subscriber.unsubscribe', details: {} };
  });
}

/** Lifts the suppression with a hash, of an address that is not stored; returns false when there was none. */
export async function liftByHash(
  { clock, pool, vault }: LiftDependencies,
  addressHash: string,
  { actor, reason }: Omit<ManualChange, 'email'>,
): Promise<boolean> {
  // The audit entry has the id under the master secret that the row is stored under.
  const hashes = [vault, ...vault.previous].find(({ secretId }) =>
    addressHash.startsWith(secretId),
  );
  const subjectId = subscriberIdOf(hashes ?? vault, addressHash);
  return inTransaction(pool, async (db) => {
    await lockAddress(db, addressHash);
    const lifted = await deleteSuppression(db, addressHash);
    if (!lifted) return false;
    const entry = { action: 'suppression.remove', subjectId, details: {}, actor, reason };
    await insertAuditEntry(db, { ...entry, occurredAt: clock.now() });
    return true;
  });
}

/** Lifts the suppression of an address, whatever its reason; returns false when there was none. */
export async function liftManually(
  deps: ManualChangeDependencies,
  change: ManualChange,
): Promise<boolean> {
  const { entry } = await changeAddress(deps, change, async (db, { addressHash }) => {
    const lifted = await deleteSuppression(db, addressHash);
    return lifted ? { action: 'suppression.remove', details: {} } : null;
  });
  return entry !== null;
}

/**
 * Erases the data of an address as a newsletter subscriber and a recipient of outreach. Its hash remains among the
 * suppressions, so that it never receives mail again, and so does the audit entry.
 * @returns the subscriber's id, and whether there was one
 */
export async function eraseSubscriber(
  deps: ManualChangeDependencies,
  change: ManualChange,
): Promise<{ readonly id: string; readonly existed: boolean }> {
  const hashes = hashAddressUnderAll(deps.vault, change.email);
  const { id, entry } = await changeAddress(deps, change, async (db, { addressHash, now }) => {
    await insertSuppression(db, { addressHash, reason: 'erased', suppressedAt: now });
    const existed = await deleteSubscriber(db, addressHash);
    await deleteConfirmations(db, addressHash);
    for (const each of hashes) {
      await anonymizeMessages(db, each);
      await deleteRecipient(db, each);
    }
    return { action: 'subscriber.erase', details: { existed } };
  });
  return { id, existed: entry.details.existed };
}

interface AddressChange {
  readonly addressHash: string;
  readonly now: Date;
}

type ChangeEntry = Pick<AuditEntry, 'action' | 'details'>;

/**
 * Changes the data of an address in a transaction that locks the address and writes the audit entry.
 * @param work returns the audit entry, or null when nothing changed
 */
async function changeAddress<Entry extends ChangeEntry | null>(
  deps: ManualChangeDependencies,
  { email, actor, reason }: ManualChange,
  work: (db: Queryable, change: AddressChange) => Promise<Entry>,
): Promise<{ readonly id: string; readonly entry: Entry }> {
  const { clock, pool, vault } = deps;
  const addressHash = hashAddress(vault, email);
  const id = subscriberIdOf(vault, addressHash);
  const now = clock.now();
  await rewriteAddresses(deps, [email]);
  return inTransaction(pool, async (db) => {
    await lockAddress(db, addressHash);
    const entry = await work(db, { addressHash, now });
    if (entry !== null) {
      await insertAuditEntry(db, { ...entry, subjectId: id, occurredAt: now, actor, reason });
    }
    return { id, entry };
  });
}
