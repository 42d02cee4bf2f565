import { parseEmail } from '@latchkey/contract';

import type { KeyedHashes } from '#server/lib/vault.ts';

/**
 * The one form of all spellings of an e-mail address, to compare by and never to send to: the local part without case,
 * the domain as DNS knows it. Dots and `+` are left alone, for what they mean is the receiver's affair.
 * @throws RangeError for what is no address
 */
export function normalizeAddress(email: string): string {
  const parsed = parseEmail(email);
  if ('fault' in parsed) throw new RangeError('not an e-mail address');
  const at = parsed.email.lastIndexOf('@');
  const local = parsed.email.slice(0, at).toLowerCase().normalize('NFC');
  return `${local}@${toAsciiDomain(parsed.email.slice(at + 1))}`;
}

/** By UTS #46, as browsers do it. */
function toAsciiDomain(domain: string): string {
  return new URL(`http://${domain}`).hostname;
}

/**
 * What an e-mail address is found by, whatever its spelling: 64 hex digits, made with a key, so that nobody who reads
 * the database can try addresses.
 * @throws RangeError for what is no address
 */
export function hashAddress(vault: Pick<KeyedHashes, 'hashText'>, email: string): string {
  return vault.hashText('address', normalizeAddress(email));
}

/**
 * The id of an address's subscription: a UUID of version 8 (RFC 9562 §5.8), made of the address's HMAC. One that was made
 * when the address was first seen would tell everybody who asks with it that it was, and a UUID of version 7 even when.
 */
export function subscriberIdOf(vault: Pick<KeyedHashes, 'hashText'>, addressHash: string): string {
  const digits = vault.hashText('subscriber', addressHash);
  const variant = ((Number.parseInt(digits.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}
