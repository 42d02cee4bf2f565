import type { KeyedHashes } from '#server/lib/vault.ts';

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
