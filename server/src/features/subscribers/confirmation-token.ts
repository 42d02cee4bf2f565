import { hash } from 'node:crypto';

import type { Vault } from '#server/lib/vault.ts';

/**
 * The token of the link that confirms what was asked for at this moment: 256 bits that nobody can make without the master
 * secret. It is made again when the mail is tried again, so that the link of each try works.
 */
export function makeConfirmationToken(
  vault: Pick<Vault, 'hashText'>,
  addressHash: string,
  requestedAt: Date,
): string {
  const digits = vault.hashText('confirmation', `${addressHash} ${requestedAt.toISOString()}`);
  return Buffer.from(digits, 'hex').toString('base64url');
}

/** What a token is found by: its SHA-256 in hexadecimal digits. Null for what is no token. */
export function hashConfirmationToken(token: string): string | null {
  return /^[\w-]{43}$/u.test(token) ? hash('sha256', token, 'hex') : null;
}
