import { parseEmail } from '@latchkey/contract';

import { formatUuid } from '#server/lib/text.ts';
import type { KeyedHashes, Vault } from '#server/lib/vault.ts';

type TextHashes = Pick<KeyedHashes, 'hashText'>;

/**
 * Returns the same form for all spellings of an e-mail address, for comparison and never for sending: the local part in
 * lower case, the domain in ASCII (UTS #46). Dots and `+` remain, because their meaning depends on the recipient's server.
 * @throws RangeError for an invalid address
 */
export function normalizeAddress(email: string): string {
  const parsed = parseEmail(email);
  if ('fault' in parsed) throw new RangeError('not an e-mail address');
  const at = parsed.email.lastIndexOf('@');
  const local = parsed.email.slice(0, at).toLowerCase().normalize('NFC');
  const domain = new URL(`http://${parsed.email.slice(at + 1)}`).hostname;
  return `${local}@${domain}`;
}

/**
 * Returns the key of an address in the database: the HMAC of its normalized form, 64 hex digits. A reader of the database
 * cannot test guessed addresses against it.
 * @throws RangeError for an invalid address
 */
export function hashAddress(hashes: TextHashes, email: string): string {
  return hashes.hashText('address', normalizeAddress(email));
}

/**
 * Returns the hashes of the mailbox of an address under the current master secret and the previous ones, the current one first:
 * `ada+shop@example.com` and `ada@example.com` have the same, and so has `a.da@example.com`, which Gmail delivers to the same person. It
 * counts e-mails and nothing else, because some servers deliver them to different people. The separator is `+`, the usual one (RFC
 * 5233 §1).
 */
export function hashMailboxUnderAll(
  vault: Pick<Vault, 'hashText' | 'previous'>,
  email: string,
): readonly [string, ...string[]] {
  const mailbox = toMailbox(normalizeAddress(email));
  const hashOf = (hashes: TextHashes): string => hashes.hashText('mailbox', mailbox);
  return [hashOf(vault), ...vault.previous.map(hashOf)];
}

function toMailbox(address: string): string {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  const [name = ''] = local.split('+', 1);
  return (name === '' ? local : name).replaceAll('.', '') + address.slice(at);
}

/** Returns the hashes of an address under the current master secret and the previous ones, the current one first. */
export function hashAddressUnderAll(vault: Pick<Vault, 'hashText' | 'previous'>, email: string) {
  return [vault, ...vault.previous].map((hashes) => hashAddress(hashes, email));
}

/**
 * Returns the id of a subscriber: a UUID of version 8 (RFC 9562 §5.8) derived from the hash of the address. A generated id
 * would reveal whether the address was known before, and a UUID of version 7 also when it was first seen.
 */
export function subscriberIdOf(hashes: TextHashes, addressHash: string): string {
  const digits = hashes.hashText('subscriber', addressHash);
  const variant = ((Number.parseInt(digits.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return formatUuid(`${digits.slice(0, 12)}8${digits.slice(13, 16)}${variant}${digits.slice(17)}`);
}
