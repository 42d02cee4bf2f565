import type { StoredEntitlement } from './issue-entitlement.ts';

const PROOF = /^(\d{1,12})\.([\w-]{22})\.([\w-]{86})$/;

/** One text for what is stored of a token: `iat.jti.signature`. */
export function formatProof(stored: StoredEntitlement): string {
  return `${stored.issuedAt}.${stored.jti}.${stored.signature}`;
}

/** Reads what `formatProof` wrote; null for anything else, and a new token is signed then. */
export function parseProof(proof: string | null): StoredEntitlement | null {
  if (proof === null) return null;
  const [, issuedAt, jti, signature] = PROOF.exec(proof) ?? [];
  if (issuedAt === undefined || jti === undefined || signature === undefined) return null;
  return { issuedAt: Number(issuedAt), jti, signature };
}
