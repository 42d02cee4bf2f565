import { domainToUnicode } from 'node:url';

import type { Context } from '#server/context.ts';

import { subscriberIdOf, hashAddress, normalizeAddress } from '../suppressions/address-hash.ts';
import type { Address } from './facts.ts';

/**
 * Every form of an address that is looked for.
 * @throws RangeError for what is no address
 */
export function toAddress(vault: Context['vault'], email: string): Address {
  const keyed = [vault, ...vault.previous];
  const hash = hashAddress(vault, email);
  const hashes = keyed.map((each) => hashAddress(each, email));
  const ids = keyed.map((each) => subscriberIdOf(each, hashAddress(each, email)));
  const normalized = normalizeAddress(email);
  const at = normalized.lastIndexOf('@') + 1;
  const unicode = `${normalized.slice(0, at)}${domainToUnicode(normalized.slice(at))}`;
  const spellings = [...new Set([email.toLowerCase(), normalized, unicode])];
  return { id: subscriberIdOf(vault, hash), ids, hash, hashes, spellings };
}
