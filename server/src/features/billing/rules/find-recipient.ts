import { compareOccurrences } from '../facts.ts';
import type { Purchase } from './group-purchases.ts';

/** The person who gets the licenses of a purchase as a gift. */
interface Recipient {
  readonly email: string;
  readonly name: string | null;
}

/** Finds the recipient of a gift in the oldest fact that has a valid address; null: the payer gets the licenses. */
export function findRecipient(purchase: Purchase): Recipient | null {
  for (const { email, name } of listRecipients(purchase)) {
    if (email !== null) return { email, name };
  }
  return null;
}

/** Whether a purchase is a gift whose recipient has no valid address, and no operator has entered one. */
export function isRecipientInvalid(purchase: Purchase): boolean {
  if (purchase.facts.repairs?.some(({ repair }) => repair === 'address')) return false;
  const recipients = listRecipients(purchase);
  return recipients.length > 0 && recipients.every(({ email }) => email === null);
}

function listRecipients({ facts: { payments, snapshots } }: Purchase) {
  return [...payments, ...snapshots]
    .filter(({ recipient }) => recipient !== undefined)
    .sort(compareOccurrences)
    .flatMap(({ recipient }) => (recipient === undefined ? [] : [recipient]));
}
