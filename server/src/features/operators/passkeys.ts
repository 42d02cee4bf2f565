/** The passkeys of operators: register, list, remove, and sign in with them. */
import type {
  Passkey,
  PasskeyAssertion,
  PasskeyCreation,
  PasskeyRegistration,
  PasskeyRequest,
  Passkeys,
} from '@latchkey/contract';
import { parse as parseUuid, v7 as makeUuid } from 'uuid';

import { inTransaction } from '#server/db/transaction.ts';
import { noSuch, notPossible, notSignedIn } from '#server/errors.ts';

import type { AuthenticatedOperator } from './authenticate.ts';
import { changeOwn } from './credentials.ts';
import type { Client, SessionDependencies } from './dependencies.ts';
import { findOperator, lockOperator } from './queries/operators.ts';
import {
  countPasskeys,
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeyRecords,
  markChallengeUsed,
  type PasskeyRecord,
} from './queries/passkeys.ts';
import { readAuthenticatorData, readPublicKey } from './rules/webauthn.ts';
import { renew, requireOwnSession, startSession, type StartedSession } from './sessions.ts';
import {
  fromBase64Url,
  newChallenge,
  passkeyRefused,
  recordUse,
  requireRelyingParty,
  validateChallenge,
  verifyUse,
  type VerifiedUse,
} from './verify-passkey.ts';

/** For each operator. */
const MAX_PASSKEYS = 20;

/** Creates the options with which a browser creates a passkey. @throws notPossible (409) */
export async function beginPasskey(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
): Promise<PasskeyCreation> {
  const party = requireRelyingParty(deps);
  const { operator } = await requireOwnSession(deps, sender);
  const passkeys = await listPasskeyRecords(deps.pool, operator.id);
  return {
    challenge: newChallenge(deps, `register:${operator.id}`),
    rp_id: party.id,
    user_id: Buffer.from(parseUuid(operator.id)).toString('base64url'),
    user_name: operator.email,
    user_display_name: operator.name,
    exclude: passkeys.map(({ credentialId }) => credentialId.toString('base64url')),
  };
}

/**
 * Registers a passkey that verified its user.
 * @throws notPossible (409) when anything of it is wrong, or it is registered already
 */
export async function registerPasskey(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
  registration: PasskeyRegistration,
): Promise<Passkey> {
  const operatorId = sender.id ?? '';
  const party = requireRelyingParty(deps);
  const clientData = fromBase64Url(registration.client_data);
  const challenge = validateChallenge(deps, party, `register:${operatorId}`, clientData);
  const data = readAuthenticatorData(fromBase64Url(registration.authenticator_data), party);
  const publicKey = fromBase64Url(registration.public_key);
  const credentialId = data?.credentialId ?? null;
  const isSame = credentialId?.equals(fromBase64Url(registration.credential_id)) === true;
  if (challenge === null || data?.isUserVerified !== true || credentialId === null || !isSame) {
    throw unusable();
  }
  if (readPublicKey(publicKey) === null) throw unusable();
  return changeOwn(deps, sender, 'operator.add_passkey', async (db, operator, now) => {
    const { challengeHash, expiresAt } = challenge;
    if (!(await markChallengeUsed(db, challengeHash, expiresAt, now))) throw unusable();
    const { signCount, isBackupEligible, isSynced } = data;
    if ((await countPasskeys(db, operator.id)) >= MAX_PASSKEYS) {
      throw notPossible(`You have ${MAX_PASSKEYS} passkeys: remove one first.`);
    }
    const name = registration.name.trim() || 'Passkey';
    const facts = { credentialId, publicKey, signCount, isBackupEligible, isSynced };
    const own = { id: makeUuid(), operatorId: operator.id, name };
    const passkey = { ...facts, ...own, createdAt: now, lastUsedAt: null };
    if (!(await insertPasskey(db, passkey))) {
      throw notPossible('This passkey is registered already.');
    }
    return viewPasskey(passkey);
  });
}

function unusable(): Error {
  return notPossible('The passkey could not be verified: try again, or use another authenticator.');
}

function viewPasskey(passkey: PasskeyRecord): Passkey {
  return {
    id: passkey.id,
    credential_id: passkey.credentialId.toString('base64url'),
    name: passkey.name,
    is_synced: passkey.isSynced,
    created_at: passkey.createdAt.toISOString(),
    last_used_at: passkey.lastUsedAt?.toISOString() ?? null,
  };
}

/** Lists the passkeys of the operator of a request. */
export async function listPasskeys(
  deps: SessionDependencies,
  { id }: AuthenticatedOperator,
): Promise<Passkeys> {
  if (id === null) throw notSignedIn();
  const passkeys = await listPasskeyRecords(deps.pool, id);
  return { items: passkeys.map(viewPasskey) };
}

/** Removes a passkey of the operator of a request. @throws noSuch (404) */
export async function removePasskey(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
  passkeyId: string,
): Promise<void> {
  await changeOwn(deps, sender, 'operator.remove_passkey', async (db, { id }) => {
    if (!(await deletePasskey(db, id, passkeyId))) throw noSuch('You have no such passkey.');
  });
}

/** Creates a challenge to sign in with a passkey of any operator. @throws notPossible (409) */
export function beginPasskeySignIn(deps: SessionDependencies): PasskeyRequest {
  return { challenge: newChallenge(deps, 'sign-in'), rp_id: requireRelyingParty(deps).id };
}

/**
 * Signs an operator in with a passkey, which verified its user and so is both factors.
 * @throws credentialRefused (401), notPossible (409), rateLimited (429)
 */
export async function signInWithPasskey(
  deps: SessionDependencies,
  assertion: PasskeyAssertion,
  client: Client,
): Promise<StartedSession> {
  await deps.signIns.takeNetwork(client.network);
  const use = await requireUse(deps, assertion);
  const { operatorId } = use.passkey;
  const started = await inTransaction(deps.pool, async (db) => {
    const now = deps.clock.now();
    const operator = await lockOperator(db, operatorId);
    if (operator === null || operator.disabledAt !== null) throw passkeyRefused(deps, use.passkey);
    if (!(await recordUse(db, deps, use, now))) throw passkeyRefused(deps, use.passkey);
    return startSession(db, operator, client, 'passkey', now);
  });
  await deps.signIns.refundNetwork(client.network);
  return started;
}

async function requireUse(
  deps: SessionDependencies,
  assertion: PasskeyAssertion,
): Promise<VerifiedUse> {
  requireRelyingParty(deps);
  const credentialId = fromBase64Url(assertion.credential_id);
  const passkey = await findPasskey(deps.pool, credentialId);
  const use = passkey === null ? null : verifyUse(deps, passkey, assertion);
  if (use === null) throw passkeyRefused(deps, passkey);
  return use;
}

/**
 * Proves freshness with a passkey of the operator of a request: the session gets a new token.
 * @throws like {@link signInWithPasskey}
 */
export async function proveWithPasskey(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
  assertion: PasskeyAssertion,
  client: Client,
): Promise<StartedSession> {
  await deps.signIns.takeNetwork(client.network);
  const session = await requireOwnSession(deps, sender);
  const use = await requireUse(deps, assertion);
  const { passkey } = use;
  if (passkey.operatorId !== sender.id) throw passkeyRefused(deps, passkey);
  const started = await inTransaction(deps.pool, async (db) => {
    const now = deps.clock.now();
    const operator = await findOperator(db, passkey.operatorId);
    if (operator === null || operator.disabledAt !== null) throw passkeyRefused(deps, passkey);
    if (!(await recordUse(db, deps, use, now))) throw passkeyRefused(deps, passkey);
    return renew(db, operator, session, now);
  });
  await deps.signIns.refundNetwork(client.network);
  return started;
}
