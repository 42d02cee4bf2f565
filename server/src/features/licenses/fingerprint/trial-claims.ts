import { hash } from 'node:crypto';
import { SECRET_ID_DIGITS } from '#server/lib/vault.ts';
import type { HashedIdentity } from './hashed-identity.ts';

/**
 * How many medium components are paired: five serial numbers and eight hardware addresses, which is all of them unless a
 * client sends one under several spellings of its key. They make 78 pairs.
 */
const MAX_CLAIMING_MEDIUMS = 13;

const CLAIM_HEX_DIGITS = 32;

type ClaimKind = 'strong' | 'pair' | 'whole';

/**
 * What a trial grant lays claim to: every strong component, every pair of medium ones, and the identity as a whole. Two
 * machines share a trial exactly when their claims intersect, that is when a strong or two of the paired medium
 * components agree or the identities are the same; so a unique index over the claims is all that one grant per machine needs.
 * @returns texts that begin with the id of the master secret, of 32 hex digits (128 bits, a PostgreSQL `uuid` holds one), sorted, each once
 */
export function trialClaims(identity: HashedIdentity): string[] {
  // SHA-256 needs no key here: its input are keyed hashes already.
  const secretId = identity.digest.slice(0, SECRET_ID_DIGITS);
  const digestClaim = (kind: ClaimKind, text: string): string =>
    secretId + hash('sha256', `${kind} ${text}`, 'hex').slice(SECRET_ID_DIGITS, CLAIM_HEX_DIGITS);
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
