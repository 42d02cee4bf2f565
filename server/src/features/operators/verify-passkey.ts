import { hash } from 'node:crypto';

import type { PasskeyAssertion } from '@latchkey/contract';
import type { PoolClient } from 'pg';

import { credentialRefused, notPossible } from '#server/errors.ts';

import { createChallenge, readExpiry, type ChallengePurpose } from './challenges.ts';
import type { SessionDependencies } from './dependencies.ts';
import { logFailedSignIn } from './log-refusal.ts';
import {
  lockPasskey,
  markChallengeUsed,
  recordPasskeyUse,
  type PasskeyRecord,
} from './queries/passkeys.ts';
import {
  isSignedBy,
  isUsePlausible,
  readAuthenticatorData,
  readChallenge,
  readPublicKey,
  relyingPartyOf,
  type AuthenticatorData,
  type RelyingParty,
} from './rules/webauthn.ts';

/** The bytes of base64url. */
export function fromBase64Url(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}

/** @throws notPossible (409) where browsers allow no passkeys */
export function requireRelyingParty({ config }: SessionDependencies): RelyingParty {
  const party = relyingPartyOf(config.http.publicUrl);
  if (party !== null) return party;
  throw notPossible(
    'Passkeys need an https address with a host name: set LATCHKEY_PUBLIC_URL to one.',
  );
}

/** Creates a challenge for a browser. */
export function newChallenge(
  { clock, vault }: SessionDependencies,
  purpose: ChallengePurpose,
): string {
  return createChallenge(vault, purpose, clock.now());
}

/** A challenge that the service created and that has not expired. */
export interface ValidChallenge {
  readonly challengeHash: Buffer;
  readonly expiresAt: Date;
}

/** Validates the challenge of a browser's answer; null if it is unknown, expired or of another page. */
export function validateChallenge(
  { clock, vault }: SessionDependencies,
  party: RelyingParty,
  purpose: ChallengePurpose,
  clientData: Buffer,
): ValidChallenge | null {
  const type = purpose === 'sign-in' ? 'webauthn.get' : 'webauthn.create';
  const challenge = readChallenge(clientData, type, party);
  if (challenge === null) return null;
  const expiresAt = readExpiry(vault, purpose, challenge, clock.now());
  if (expiresAt === null) return null;
  // Of the bytes: base64url has several texts for the same bytes.
  return { challengeHash: hash('sha256', fromBase64Url(challenge), 'buffer'), expiresAt };
}

/** A use of a passkey whose signature is right. */
export interface VerifiedUse {
  readonly passkey: PasskeyRecord;
  readonly data: AuthenticatorData;
  readonly challenge: ValidChallenge;
}

/** Verifies an assertion, without the database; null if anything of it is wrong. */
export function verifyUse(
  deps: SessionDependencies,
  passkey: PasskeyRecord,
  assertion: PasskeyAssertion,
): VerifiedUse | null {
  const party = requireRelyingParty(deps);
  const clientData = fromBase64Url(assertion.client_data);
  const authenticatorData = fromBase64Url(assertion.authenticator_data);
  const challenge = validateChallenge(deps, party, 'sign-in', clientData);
  const data = readAuthenticatorData(authenticatorData, party);
  const key = readPublicKey(passkey.publicKey);
  // Without a verified user, the passkey would be one factor only.
  if (challenge === null || data === null || key === null || !data.isUserVerified) return null;
  const signature = fromBase64Url(assertion.signature);
  if (!isSignedBy(key, { authenticatorData, clientData, signature })) return null;
  return { passkey, data, challenge };
}

/**
 * Uses up the challenge and records the use, in the transaction of the sign-in.
 * @returns false for a challenge that was used before, a passkey that was removed, and one that may have been copied
 */
export async function recordUse(
  db: PoolClient,
  { log }: SessionDependencies,
  { passkey, data, challenge }: VerifiedUse,
  now: Date,
): Promise<boolean> {
  const locked = await lockPasskey(db, passkey.id);
  if (locked === null) return false;
  if (!isUsePlausible(locked, data)) {
    const fields = { event: 'operator.passkey_copied', passkeyId: passkey.id };
    log.warn(
      fields,
      'refused a passkey whose counter went back or whose kind changed: it may have been copied',
    );
    return false;
  }
  const { challengeHash, expiresAt } = challenge;
  if (!(await markChallengeUsed(db, challengeHash, expiresAt, now))) return false;
  await recordPasskeyUse(db, passkey.id, data, now);
  return true;
}

/** A wrong passkey, whatever is wrong with it. */
export function passkeyRefused(deps: SessionDependencies, passkey: PasskeyRecord | null): Error {
  logFailedSignIn(deps, passkey?.operatorId ?? null);
  return credentialRefused('The passkey was not accepted: try again, or sign in another way.');
}
