/** The credentials of an operator: sign-in link, password, one-time codes, recovery codes. */
import { randomBytes } from 'node:crypto';

import type {
  OperatorLink,
  OperatorLinkRedeem,
  OperatorRecoveryCodes,
  OperatorTotpSecret,
} from '@latchkey/contract';
import type { PoolClient } from 'pg';

import { inTransaction } from '#server/db/transaction.ts';
import { linkInvalid, notSignedIn, signInFailed, totpState } from '#server/errors.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { AuthenticatedOperator } from './authenticate.ts';
import type { Client, SessionDependencies } from './dependencies.ts';
import { createFirstOperator } from './first-operator.ts';
import { readLinkPassword, requirePasswords, requireUsablePassword } from './passwords.ts';
import {
  findOperator,
  isAnyOperator,
  lockOperator,
  setOperatorName,
  setPasswordHash,
  type OperatorRecord,
} from './queries/operators.ts';
import { deleteRecoveryCodes, insertRecoveryCodes } from './queries/recovery-codes.ts';
import { enableTotp, setTotpSecret } from './queries/second-factors.ts';
import { deleteSessions } from './queries/sessions.ts';
import { deleteSignInLinks, findSignInLink, type SignInLink } from './queries/sign-in-links.ts';
import { createRecoveryCodes, hashRecoveryCode } from './rules/recovery-code.ts';
import { createTotpSecret, findTotpStep, totpUri } from './rules/totp.ts';
import { hashToken } from './rules/token.ts';
import { startSession, type StartedSession } from './sessions.ts';
import { openTotpSecret, sealTotpSecret } from './totp-secret.ts';

/**
 * Shows whose sign-in link it is.
 * @throws linkInvalid (401), rateLimited (429)
 */
export async function viewLink(
  deps: SessionDependencies,
  token: string,
  client: Client,
): Promise<OperatorLink> {
  await deps.signIns.takeNetwork(client.network);
  const { operator, expiresAt } = await requireLink(deps, token, client);
  const { email, name, role } = operator ?? FIRST_OPERATOR;
  return { email, name, role, expires_at: expiresAt.toISOString() };
}

/** What a link that creates the first operator shows. */
const FIRST_OPERATOR = { email: null, name: '', role: 'admin' } as const;

/**
 * Returns a valid link with its operator; null for a link that creates the first one. The caller counted the try, before it
 * took a slot of the database.
 */
async function requireLink(deps: SessionDependencies, token: string, { network }: Client) {
  const tokenHash = hashToken(token);
  const now = deps.clock.now();
  const link = tokenHash === null ? null : await findSignInLink(deps.pool, tokenHash, now);
  if (tokenHash === null || link === null) throw linkInvalid();
  const operator = link.operatorId === null ? null : await findOperator(deps.pool, link.operatorId);
  if (operator === null ? await isTooLate(deps, link) : operator.disabledAt !== null) {
    throw linkInvalid();
  }
  await deps.signIns.refundNetwork(network);
  return { operator, tokenHash, expiresAt: link.expiresAt };
}

/** Whether a link without an operator lost it, or there is a first operator already. */
async function isTooLate(
  { pool }: SessionDependencies,
  { operatorId }: SignInLink,
): Promise<boolean> {
  return operatorId !== null || isAnyOperator(pool);
}

/**
 * Redeems a sign-in link: sets the password, unless passwords are switched off, and signs in. Of two concurrent calls, one is
 * refused.
 * @throws linkInvalid (401), notPossible (409), InvalidRequestError (422), rateLimited (429), overloaded (503)
 */
export async function redeemLink(
  deps: SessionDependencies,
  request: OperatorLinkRedeem,
  client: Client,
): Promise<StartedSession> {
  const { token, name } = request;
  const password = readLinkPassword(deps, request.password);
  const { databaseLimiter } = deps;
  await deps.signIns.takeNetwork(client.network);
  const found = await databaseLimiter.run(() => requireLink(deps, token, client));
  if (found.operator === null) {
    await databaseLimiter.run(() => createFirstOperator(deps, found.tokenHash, request));
    return redeemLink(deps, request, client);
  }
  const { operator, tokenHash } = found;
  const passwordHash = password === null ? null : await deps.passwords.hash(password);
  const newName = name?.trim() || operator.name;
  const redeem = async (db: PoolClient): Promise<StartedSession> => {
    const now = deps.clock.now();
    const locked = await lockOperator(db, operator.id);
    const link = await findSignInLink(db, tokenHash, now);
    if (locked === null || locked.disabledAt !== null || link === null) throw linkInvalid();
    await deleteSignInLinks(db, operator.id, now);
    if (passwordHash !== null) await setPasswordHash(db, operator.id, passwordHash);
    await setOperatorName(db, operator.id, newName);
    const named = { ...locked, name: newName, passwordHash: passwordHash ?? locked.passwordHash };
    return startSession(db, named, client, 'link', now);
  };
  return databaseLimiter.run(() => inTransaction(deps.pool, redeem));
}

/**
 * Changes the password of the operator of a request, and ends its other sessions.
 * @throws notPossible (409), InvalidRequestError (422), overloaded (503)
 */
export async function changePassword(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
  password: string,
): Promise<void> {
  requirePasswords(deps);
  requireUsablePassword(password);
  const passwordHash = await deps.passwords.hash(password);
  await deps.databaseLimiter.run(() =>
    changeOwn(deps, sender, 'operator.change_password', async (db, { id }) => {
      await setPasswordHash(db, id, passwordHash);
      await deleteSessions(db, id, sender.sessionId);
    }),
  );
}

/** Runs a change of the operator of a request, with its audit entry. */
export function changeOwn<Result>(
  { clock, pool }: SessionDependencies,
  sender: AuthenticatedOperator,
  action: string,
  work: (db: PoolClient, operator: OperatorRecord, now: Date) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, async (db) => {
    const operator = sender.id === null ? null : await lockOperator(db, sender.id);
    if (operator === null || operator.disabledAt !== null) throw notSignedIn();
    const now = clock.now();
    const result = await work(db, operator, now);
    await insertAuditEntry(db, {
      occurredAt: now,
      actor: sender.actor,
      action,
      subjectId: operator.id,
      reason: null,
      details: {},
    });
    return result;
  });
}

/** Creates a secret for one-time codes, which are needed only after {@link confirmTotp}. @throws totpState (409) */
export async function beginTotp(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
): Promise<OperatorTotpSecret> {
  const secret = createTotpSecret(randomBytes);
  return changeOwn(
    deps,
    sender,
    'operator.begin_totp',
    async (db, { id, email, totpEnabledAt }) => {
      if (totpEnabledAt !== null) throw totpState();
      await setTotpSecret(db, id, sealTotpSecret(deps.vault, id, secret));
      await deleteRecoveryCodes(db, id);
      const { host } = new URL(deps.config.http.publicUrl);
      return { secret, uri: totpUri(secret, email, host) };
    },
  );
}

/**
 * Enables one-time codes after a right code, and creates recovery codes.
 * @throws signInFailed (401) for a wrong code, totpState (409) without a secret or when they are enabled already
 */
export async function confirmTotp(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
  code: string,
): Promise<OperatorRecoveryCodes> {
  return changeOwn(deps, sender, 'operator.enable_totp', async (db, operator, now) => {
    const secret = openTotpSecret(deps.vault, operator);
    if (secret === null || operator.totpEnabledAt !== null) throw totpState();
    const step = findTotpStep(secret, code.replaceAll(/\s/g, ''), now);
    if (step === null) throw signInFailed();
    await enableTotp(db, operator.id, now, step);
    return replaceCodes(db, operator.id);
  });
}

async function replaceCodes(db: PoolClient, operatorId: string): Promise<OperatorRecoveryCodes> {
  const codes = createRecoveryCodes(randomBytes);
  const hashes = codes.map(hashRecoveryCode).filter((hash) => hash !== null);
  await deleteRecoveryCodes(db, operatorId);
  await insertRecoveryCodes(db, operatorId, hashes);
  return { codes };
}

/** Disables one-time codes and removes the secret and the recovery codes. */
export async function disableTotp(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
): Promise<void> {
  await changeOwn(deps, sender, 'operator.disable_totp', async (db, { id }) => {
    await setTotpSecret(db, id, null);
    await deleteRecoveryCodes(db, id);
  });
}

/**
 * Replaces the recovery codes of the operator of a request.
 * @throws totpState (409) when one-time codes are not enabled
 */
export async function renewRecoveryCodes(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
): Promise<OperatorRecoveryCodes> {
  return changeOwn(deps, sender, 'operator.renew_recovery_codes', async (db, operator) => {
    if (operator.totpEnabledAt === null) throw totpState();
    return replaceCodes(db, operator.id);
  });
}
