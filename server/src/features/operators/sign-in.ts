/** Signing in with e-mail address, password and one-time code. No slot of the limiter is held while a password is verified. */
import type { OperatorProof, OperatorSignIn } from '@latchkey/contract';
import type { PoolClient } from 'pg';

import { inTransaction } from '#server/db/transaction.ts';
import { codeRequired, signInFailed } from '#server/errors.ts';

import type { AuthenticatedOperator } from './authenticate.ts';
import type { Client, SessionDependencies } from './dependencies.ts';
import { requirePasswords } from './passwords.ts';
import {
  findOperatorByEmail,
  lockOperator,
  upgradePasswordHash,
  type OperatorRecord,
} from './queries/operators.ts';
import { markRecoveryCodeUsed } from './queries/recovery-codes.ts';
import { markTotpStepUsed } from './queries/second-factors.ts';
import { hashRecoveryCode } from './rules/recovery-code.ts';
import { findTotpStep, isTotpCode } from './rules/totp.ts';
import { renew, requireOwnSession, startSession, type StartedSession } from './sessions.ts';
import { openTotpSecret } from './totp-secret.ts';

/**
 * Signs an operator in. An unknown address, a disabled operator and a wrong password take the same time and have the same
 * answer.
 * @throws signInFailed (401), codeRequired (401), notPossible (409), rateLimited (429), overloaded (503)
 */
export async function signIn(
  deps: SessionDependencies,
  { email, password, code = null }: OperatorSignIn,
  client: Client,
): Promise<StartedSession> {
  requirePasswords(deps);
  await deps.signIns.take(email, client.network);
  const operator = await deps.databaseLimiter.run(() => findOperatorByEmail(deps.pool, email));
  return proveAndRun(deps, operator, { password, code }, email, client, (db, locked, method) =>
    startSession(db, locked, client, method, deps.clock.now()),
  );
}

/**
 * Proves freshness again: the session is fresh for 10 minutes, and gets a new token.
 * @throws like {@link signIn}
 */
export async function proveFreshness(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
  { password, code = null }: OperatorProof,
  client: Client,
): Promise<StartedSession> {
  requirePasswords(deps);
  const session = await deps.databaseLimiter.run(() => requireOwnSession(deps, sender));
  const { operator } = session;
  await deps.signIns.take(operator.email, client.network);
  return proveAndRun(deps, operator, { password, code }, operator.email, client, (db, locked) =>
    renew(db, locked, session, deps.clock.now()),
  );
}

type Method = 'password' | 'totp' | 'recovery_code';

async function proveAndRun(
  deps: SessionDependencies,
  operator: OperatorRecord | null,
  proof: { readonly password: string; readonly code: string | null },
  email: string,
  { network }: Client,
  run: (db: PoolClient, operator: OperatorRecord, method: Method) => Promise<StartedSession>,
): Promise<StartedSession> {
  const isRight = await deps.passwords.verify(proof.password, operator?.passwordHash ?? null);
  if (!isRight || operator === null || operator.disabledAt !== null) throw refuse(deps, operator);
  if (operator.totpEnabledAt !== null && (proof.code ?? '') === '') {
    await deps.signIns.refund(email, network);
    throw codeRequired();
  }
  const { passwordHash } = operator;
  const isOutdated = passwordHash !== null && deps.passwords.isOutdated(passwordHash);
  const upgraded = isOutdated ? await deps.passwords.hash(proof.password) : null;
  const change = async (db: PoolClient): Promise<StartedSession> => {
    const locked = await lockOperator(db, operator.id);
    // The operator may have been disabled or reset during the hash.
    if (locked === null || locked.disabledAt !== null) throw refuse(deps, operator);
    if (locked.passwordHash !== passwordHash) throw refuse(deps, operator);
    const method = await useCode(deps, db, locked, proof.code);
    if (method === null) throw refuse(deps, operator);
    if (upgraded !== null) await upgradePasswordHash(db, operator.id, upgraded);
    return run(db, locked, method);
  };
  const started = await deps.databaseLimiter.run(() => inTransaction(deps.pool, change));
  await deps.signIns.succeed(email, network);
  return started;
}

/** The id shows in the log which account is attacked, without its address. */
function refuse({ log }: SessionDependencies, operator: OperatorRecord | null): Error {
  const fields = { event: 'operator.sign_in_failed', operatorId: operator?.id ?? null };
  log.warn(fields, 'an operator sign-in failed');
  return signInFailed();
}

/** Uses up a code; returns null if it is wrong or was used before. */
async function useCode(
  deps: SessionDependencies,
  db: PoolClient,
  operator: OperatorRecord,
  code: string | null,
): Promise<Method | null> {
  if (operator.totpEnabledAt === null) return 'password';
  const given = (code ?? '').replaceAll(/\s/g, '');
  if (isTotpCode(given)) {
    const secret = openTotpSecret(deps.vault, operator);
    const step = secret === null ? null : findTotpStep(secret, given, deps.clock.now());
    return step !== null && (await markTotpStepUsed(db, operator.id, step)) ? 'totp' : null;
  }
  const hash = hashRecoveryCode(given);
  if (hash === null) return null;
  const isUsed = await markRecoveryCodeUsed(db, operator.id, hash, deps.clock.now());
  return isUsed ? 'recovery_code' : null;
}
