import { toSeconds } from './claims.ts';
import { REFRESH_INTERVAL_SECONDS, type StoredEntitlement } from './issue-entitlement.ts';
import { JTI_CHARACTERS } from './token.ts';

const SIGNATURE_CHARACTERS = 86;
/** `.jti.signature` */
const TAIL_CHARACTERS = 1 + JTI_CHARACTERS + 1 + SIGNATURE_CHARACTERS;

/** One text for what is stored of a token: `iat.jti.signature`, the last two of a fixed length. */
export function formatProof(stored: StoredEntitlement): string {
  return `${stored.issuedAt}.${stored.jti}.${stored.signature}`;
}

/** Reads what `formatProof` wrote; null when there is nothing, so that a new token is signed. */
export function parseProof(proof: string | null): StoredEntitlement | null {
  if (proof === null || proof.length <= TAIL_CHARACTERS) return null;
  const jtiAt = proof.length - TAIL_CHARACTERS + 1;
  const signatureAt = proof.length - SIGNATURE_CHARACTERS;
  return {
    issuedAt: Number(proof.slice(0, jtiAt - 1)),
    jti: proof.slice(jtiAt, signatureAt - 1),
    signature: proof.slice(signatureAt),
  };
}

/**
 * Between which texts, in byte order, the proofs of tokens lie that are fresh at a moment: `from` is the first of them, and
 * `before` the first that is not. A proof begins with its `iat`, of ten digits from 2001 to 2286.
 */
export function freshProofs(now: Date): { readonly from: string; readonly before: string } {
  const seconds = toSeconds(now);
  return { from: String(seconds - REFRESH_INTERVAL_SECONDS + 1), before: String(seconds + 1) };
}
