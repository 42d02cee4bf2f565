import { compareOccurrences } from '../facts.ts';
import type { Purchase } from './group-purchases.ts';

/** The person who gets the licenses of a purchase as a gift. */
interface Recipient {
  /** Null: the person was erased, and the licenses have no owner. */
  readonly email: string | null;
  readonly name: string | null;
}

const ERASED: Recipient = { email: null, name: null };

/**
 * Finds the recipient of a gift in the oldest fact that has a valid address, unless the person was erased; null: the payer gets the
 * licenses.
 */
export function findRecipient(purchase: Purchase): Recipient | null {
  if (listRecipients(purchase).some(({ isErased }) => isErased === true)) return ERASED;
  for (const { email, name } of listRecipients(purchase)) {
    if (email !== null) return { email, name };
  }
  return null;
}

/** Whether a purchase is a gift whose recipient has no valid address, and no operator has entered one. */
export function isRecipientInvalid(purchase: Purchase): boolean {
  if (purchase.facts.repairs?.some(({ repair }) => repair === 'address')) return false;
  const recipients = listRecipients(purchase);
  if (recipients.some(({ isErased }) => isErased === true)) return false;
  return recipients.length > 0 && recipients.every(({ email }) => email === null);
}

function listRecipients({ facts: { payments, snapshots } }: Purchase) {
  return [...payments, ...snapshots]
    .filter(({ recipient }) => recipient !== undefined)
    .sort(compareOccurrences)
    .flatMap(({ recipient }) => (recipient === undefined ? [] : [recipient]));
}
