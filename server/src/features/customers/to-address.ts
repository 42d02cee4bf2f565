import { domainToUnicode } from 'node:url';

import type { Context } from '#server/context.ts';

import { subscriberIdOf } from '../subscribers/subscriber-id.ts';
import { hashAddress } from '../suppressions/hash-address.ts';
import { normalizeAddress } from '../suppressions/normalize-address.ts';
import type { Address } from './facts.ts';

/**
 * Every form of an address that is looked for.
 * @throws RangeError for what is no address
 */
export function toAddress(vault: Context['vault'], email: string): Address {
  const hash = hashAddress(vault, email);
  const normalized = normalizeAddress(email);
  const at = normalized.lastIndexOf('@') + 1;
  const unicode = `${normalized.slice(0, at)}${domainToUnicode(normalized.slice(at))}`;
  const spellings = [...new Set([email.toLowerCase(), normalized, unicode])];
  const hashes = [vault, ...vault.previous].map((keyed) => hashAddress(keyed, email));
  return { id: subscriberIdOf(vault, hash), hash, hashes, spellings };
}
