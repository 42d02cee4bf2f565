import { hash } from 'node:crypto';

/** 256 bits, so that a slow hash of a token adds no protection. */
const TOKEN_BYTES = 32;

const TOKEN = /^[\w-]{43}$/;

/**
 * Creates the token of a session or a sign-in link: 256 bits in base64url.
 * @param randomBytes a cryptographically strong source
 */
export function createToken(randomBytes: (count: number) => Buffer): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Hashes a token for storage and look-up, by SHA-256; null if it does not have the form of a token. */
export function hashToken(token: string): Buffer | null {
  return TOKEN.test(token) ? hash('sha256', token, 'buffer') : null;
}
