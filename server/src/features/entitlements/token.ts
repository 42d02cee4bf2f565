import { hash, sign } from 'node:crypto';
import type { EntitlementClaims } from './claims.ts';
import type { SigningKey } from './signing-key.ts';

/** 128 bits in base64url. */
export const JTI_CHARACTERS = 22;

/** What is signed: a token without its signature. */
export interface SigningInput {
  readonly jti: string;
  /** `header.payload`, both base64url. */
  readonly text: string;
}

/**
 * Encodes claims for signing. The result is a pure function of key and claims: `jti` is 128 bits of the SHA-256 of the
 * key's id and all other claims, so that a single hash both identifies the token and stands for its content.
 *
 * It takes about 6 µs: a third each for the JSON, the hash and base64url. Putting the JSON together by hand won nothing,
 * because the engine then flattens the pieces when they are hashed.
 */
export function encodeSigningInput(
  key: SigningKey,
  claims: Omit<EntitlementClaims, 'jti'>,
): SigningInput {
  const json = JSON.stringify(claims);
  const jti = hash('sha256', key.publicJwk.kid + json, 'base64url').slice(0, JTI_CHARACTERS);
  const payload = Buffer.from(`{"jti":"${jti}",${json.slice(1)}`, 'utf8').toString('base64url');
  return { jti, text: `${key.encodedHeader}.${payload}` };
}

/**
 * Signs with Ed25519 (RFC 8032), as a JWS wants it (RFC 8037).
 *
 * By `node:crypto`, not jose: jose signs through WebCrypto, which is asynchronous and hands over copies, for the same
 * 64 bytes. The tests verify with jose and with `node:crypto`.
 * @returns the signature, base64url
 */
export function signEntitlement(key: SigningKey, signingInput: string): string {
  return sign(null, Buffer.from(signingInput, 'ascii'), key.privateKey).toString('base64url');
}
