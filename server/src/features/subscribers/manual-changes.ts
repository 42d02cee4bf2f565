import { anonymizeMessages } from '../outreach/queries/messages.ts';
import { deleteRecipient } from '../outreach/queries/recipients.ts';
import { hashAddressUnderAll } from '../suppressions/address-hash.ts';
import {
  changeAddress,
  type ManualChange,
  type ManualChangeDependencies,
} from '../suppressions/change-address.ts';
import { insertSuppression } from '../suppressions/queries/suppressions.ts';
import { deleteConfirmations } from './queries/confirmations.ts';
import { deleteSubscriber } from './queries/subscribers.ts';

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
