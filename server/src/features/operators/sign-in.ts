/** Signing in with e-mail address, password and one-time code. No slot of the limiter is held while a password is verified. */
import type { OperatorProof, OperatorSignIn } from '@latchkey/contract';
import type { PoolClient } from 'pg';

import { inTransaction } from '#server/db/transaction.ts';
import { codeRequired, signInFailed } from '#server/errors.ts';

import type { AuthenticatedOperator } from './authenticate.ts';
import type { Client, SessionDependencies } from './dependencies.ts';
import { logFailedSignIn } from './log-refusal.ts';
import { requirePasswords } from './passwords.ts';
import { isKnownNetwork, recordNetwork } from './queries/networks.ts';
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
import type { SignInTry } from './sign-in-limiter.ts';
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
  await deps.signIns.takeNetwork(client.network);
  const { operator, attempt } = await deps.databaseLimiter.run(async () => ({
    operator: await findOperatorByEmail(deps.pool, email),
    attempt: await readTry(deps, email, client),
  }));
  await deps.signIns.takeAccount(attempt);
  // A stranger must not keep an operator from signing in where they are known, so those do not wait together.
  const proof = { password, code, isTrusted: attempt.isKnownNetwork };
  return proveAndRun(deps, operator, proof, attempt, (db, locked, method) =>
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
  await deps.signIns.takeNetwork(client.network);
  const { session, attempt } = await deps.databaseLimiter.run(async () => {
    const found = await requireOwnSession(deps, sender);
    return { session: found, attempt: await readTry(deps, found.operator.email, client) };
  });
  await deps.signIns.takeAccount(attempt);
  const proof = { password, code, isTrusted: true };
  return proveAndRun(deps, session.operator, proof, attempt, async (db, locked) => {
    const now = deps.clock.now();
    await recordNetwork(db, locked.id, client.network, now);
    return renew(db, locked, session, now);
  });
}

async function readTry(
  { clock, pool }: SessionDependencies,
  account: string,
  { network }: Client,
): Promise<SignInTry> {
  const isKnown = await isKnownNetwork(pool, account, network, clock.now());
  return { account, network, isKnownNetwork: isKnown };
}

type Method = 'password' | 'totp' | 'recovery_code';

interface Proof {
  readonly password: string;
  readonly code: string | null;
  /** See {@link HashRequester}. */
  readonly isTrusted: boolean;
}

async function proveAndRun(
  deps: SessionDependencies,
  operator: OperatorRecord | null,
  proof: Proof,
  attempt: SignInTry,
  run: (db: PoolClient, operator: OperatorRecord, method: Method) => Promise<StartedSession>,
): Promise<StartedSession> {
  const { isTrusted, password } = proof;
  const requester = { network: attempt.network, isTrusted };
  const isRight = await deps.passwords.verify(password, operator?.passwordHash ?? null, requester);
  if (!isRight || operator === null || operator.disabledAt !== null) throw refuse(deps, operator);
  if (operator.totpEnabledAt !== null && (proof.code ?? '') === '') {
    await deps.signIns.refund(attempt);
    throw codeRequired();
  }
  const { passwordHash } = operator;
  const isOutdated = passwordHash !== null && deps.passwords.isOutdated(passwordHash);
  const upgraded = isOutdated ? await deps.passwords.hash(password) : null;
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
  await deps.signIns.refund(attempt);
  return started;
}

function refuse(deps: SessionDependencies, operator: OperatorRecord | null): Error {
  logFailedSignIn(deps, operator?.id ?? null);
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
