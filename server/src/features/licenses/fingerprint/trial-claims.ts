import { hash } from 'node:crypto';
import type { HashedIdentity } from './hashed-identity.ts';

/**
 * How many medium components are paired: five serial numbers and eight hardware addresses, which is all of them unless a
 * client sends one under several spellings of its key. They make 78 pairs.
 */
const MAX_CLAIMING_MEDIUMS = 13;

const CLAIM_HEX_DIGITS = 32;

/**
 * What a trial grant lays claim to: every strong component, every pair of medium ones, and the identity as a whole. Two
 * machines share a trial exactly when their claims intersect, that is when a strong or two of the paired medium
 * components agree or the identities are the same; so a unique index over the claims is all that one grant per machine needs.
 * @returns texts of 32 hex digits (128 bits, a PostgreSQL `uuid` holds one), sorted, each once
 */
export function trialClaims(identity: HashedIdentity): string[] {
  const claims = new Set([digestClaim('whole', identity.digest)]);
  for (const component of identity.strong) claims.add(digestClaim('strong', component));
  const mediums = identity.medium.slice(0, MAX_CLAIMING_MEDIUMS).sort();
  mediums.forEach((first, index) => {
    for (const second of mediums.slice(index + 1)) {
      claims.add(digestClaim('pair', `${first} ${second}`));
    }
  });
  return [...claims].sort();
}

/** No key is needed here: what goes in are keyed hashes already. */
function digestClaim(kind: 'strong' | 'pair' | 'whole', text: string): string {
  return hash('sha256', `${kind} ${text}`, 'hex').slice(0, CLAIM_HEX_DIGITS);
}
