import type { KeyedHashes } from '#server/lib/vault.ts';

import { normalizeAddress } from './normalize-address.ts';

/**
 * What an e-mail address is found by, whatever its spelling: 64 hex digits, made with a key, so that nobody who reads
 * the database can try addresses.
 * @throws RangeError for what is no address
 */
export function hashAddress(vault: Pick<KeyedHashes, 'hashText'>, email: string): string {
  return vault.hashText('address', normalizeAddress(email));
}
