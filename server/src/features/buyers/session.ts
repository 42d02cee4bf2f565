import { randomUUID } from 'node:crypto';

import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/value';

import type { Queryable } from '#server/db/statement.ts';

import { isSameAddress } from '../key-emails/send-key-email.ts';
import { requireByKey } from '../licenses/find-license.ts';
import { hashWithAllSecrets } from '../licenses/license-key.ts';
import { findLicenseIdByKey } from '../licenses/queries/license-keys.ts';
import type { BuyerDependencies } from './dependencies.ts';
import { endSession, isSessionEnded } from './queries/sessions.ts';
import { openValue, sealValue } from './sealed-value.ts';

/** How long a buyer stays signed in. */
export const SESSION_TERM_MS = 30 * 60_000;

const LABEL = 'buyer-session';

/** The hashes are those of the key under all master secrets. */
const KeySession = Type.Object({
  door: Type.Literal('key'),
  id: Type.String(),
  licenseId: Type.String(),
  keyHashes: Type.Array(Type.String()),
  expiresAtMs: Type.Integer(),
});

const EmailSession = Type.Object({
  door: Type.Literal('email'),
  id: Type.String(),
  email: Type.String(),
  expiresAtMs: Type.Integer(),
});

const BuyerSession = Type.Union([KeySession, EmailSession]);

/**
 * A signed-in buyer, who proved a key or an address. It is not stored: the browser keeps it, sealed under the master secret. Only
 * the id of one that was signed out of is stored, until its end.
 */
export type BuyerSession = Static<typeof BuyerSession>;

/** Seals a session for the browser. */
export function sealSession(deps: Pick<BuyerDependencies, 'vault'>, session: BuyerSession): string {
  return sealValue(deps, LABEL, session);
}

/** Opens what a browser sent; null when it is not a session, or has ended. */
export async function openSession(
  deps: Pick<BuyerDependencies, 'clock' | 'databaseLimiter' | 'pool' | 'vault'>,
  sealed: string | null,
): Promise<BuyerSession | null> {
  const session = openValue(deps, LABEL, (value) => Parse(BuyerSession, value), sealed);
  if (session === null) return null;
  const isEnded = await deps.databaseLimiter.run(() => isSessionEnded(deps.pool, session.id));
  return isEnded ? null : session;
}

/** Ends a session, for all that have a copy of it. */
export async function signOut(
  { databaseLimiter, pool }: Pick<BuyerDependencies, 'databaseLimiter' | 'pool'>,
  { id, expiresAtMs }: BuyerSession,
): Promise<void> {
  await databaseLimiter.run(() => endSession(pool, id, new Date(expiresAtMs)));
}

/** Starts a session of a buyer who proved an address. */
export function startEmailSession({ clock }: BuyerDependencies, email: string): BuyerSession {
  const expiresAtMs = clock.now().getTime() + SESSION_TERM_MS;
  return { door: 'email', id: randomUUID(), email, expiresAtMs };
}

/**
 * Starts a session of a buyer who has a key; it shows that license alone.
 * @throws licenseNotFound (404), rateLimited (429) as every look-up of a key
 */
export async function signInByKey(
  deps: BuyerDependencies,
  licenseKey: string,
  clientNetwork: string,
): Promise<BuyerSession> {
  const { license } = await requireByKey(deps, licenseKey, null, clientNetwork);
  return {
    door: 'key',
    id: randomUUID(),
    licenseId: license.id,
    keyHashes: hashWithAllSecrets(deps, licenseKey),
    expiresAtMs: deps.clock.now().getTime() + SESSION_TERM_MS,
  };
}

/**
 * Returns whether a license belongs to a session now: an operator may have replaced its key, or changed its owner, since
 * the session began.
 */
export async function ownsLicense(
  db: Queryable,
  session: BuyerSession,
  license: { readonly id: string; readonly customerEmail: string | null },
): Promise<boolean> {
  if (session.door === 'email') {
    return isSameAddress(license.customerEmail, session.email);
  }
  if (session.licenseId !== license.id) return false;
  return (await findLicenseIdByKey(db, session.keyHashes)) === license.id;
}
