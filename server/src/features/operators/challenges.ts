/** The challenges of passkeys: signed by the service, so that none is stored before it is used. */
import { randomBytes, timingSafeEqual } from 'node:crypto';

import type { Vault } from '#server/lib/vault.ts';

const TERM_MS = 5 * 60_000;
const TIME_BYTES = 6;
const NONCE_BYTES = 16;

/** What a challenge is for. A sign-in has no operator yet. */
export type ChallengePurpose = 'sign-in' | `register:${string}`;

/** Creates a challenge in base64url: its end, a nonce, and a keyed hash of both and of the purpose. */
export function createChallenge(
  vault: Pick<Vault, 'hashText'>,
  purpose: ChallengePurpose,
  now: Date,
): string {
  const time = Buffer.alloc(TIME_BYTES);
  time.writeUIntBE(now.getTime() + TERM_MS, 0, TIME_BYTES);
  const head = Buffer.concat([time, randomBytes(NONCE_BYTES)]);
  return Buffer.concat([head, sign(vault, purpose, head)]).toString('base64url');
}

/** Returns when a challenge of a purpose expires; null if it has expired, or the service did not create it for that. */
export function readExpiry(
  vault: Pick<Vault, 'hashText'>,
  purpose: ChallengePurpose,
  challenge: string,
  now: Date,
): Date | null {
  const bytes = Buffer.from(challenge, 'base64url');
  const head = bytes.subarray(0, TIME_BYTES + NONCE_BYTES);
  const signature = bytes.subarray(TIME_BYTES + NONCE_BYTES);
  const expected = sign(vault, purpose, head);
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return null;
  const expiresAt = new Date(head.readUIntBE(0, TIME_BYTES));
  return expiresAt > now ? expiresAt : null;
}

function sign(vault: Pick<Vault, 'hashText'>, purpose: ChallengePurpose, head: Buffer): Buffer {
  return Buffer.from(vault.hashText('challenge', `${purpose} ${head.toString('hex')}`), 'hex');
}
