import type { StoredEntitlement } from './issue-entitlement.ts';
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
