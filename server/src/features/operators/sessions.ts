/** Sessions of operators: start, view, list, revoke and end them. */
import { randomBytes } from 'node:crypto';

import type { CurrentOperator, OperatorSessions } from '@latchkey/contract';
import type { PoolClient } from 'pg';
import { v7 as makeUuid } from 'uuid';

import { inTransaction } from '#server/db/transaction.ts';
import { notFound, notSignedIn } from '#server/errors.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { AuthenticatedOperator } from './authenticate.ts';
import type { Client, SessionDependencies } from './dependencies.ts';
import { findOperator, recordSignIn, type OperatorRecord } from './queries/operators.ts';
import { countRecoveryCodes } from './queries/recovery-codes.ts';
import {
  deleteOldSessions,
  deleteSession,
  deleteSessions,
  insertSession,
  listSessionRecords,
  renewSession,
  type SessionRecord,
} from './queries/sessions.ts';
import { endOfSession, endOfTerm, freshUntil, sessionLimits } from './rules/operator.ts';
import { createToken, hashToken } from './rules/token.ts';

/** A started or renewed session: the token goes into the cookie and is stored nowhere. */
export interface StartedSession {
  readonly token: string;
  readonly current: CurrentOperator;
}

const MAX_USER_AGENT = 300;

/**
 * Starts a session of an operator who proved a credential, with a new token: a token that somebody knew before is never used.
 * @param method for the audit log: `link`, `password`, `totp` or `recovery_code`
 */
export async function startSession(
  client: PoolClient,
  operator: OperatorRecord,
  { network, userAgent }: Client,
  method: string,
  now: Date,
): Promise<StartedSession> {
  const session: SessionRecord = {
    id: makeUuid(),
    operatorId: operator.id,
    createdAt: now,
    lastSeenAt: now,
    provedAt: now,
    network,
    // A database stores neither control characters as they were meant nor lone surrogates.
    userAgent: userAgent
      .replaceAll(/[\p{Cc}\p{Cs}]/gu, '?')
      .slice(0, MAX_USER_AGENT)
      .toWellFormed(),
  };
  const { token, tokenHash } = newToken();
  await deleteOldSessions(client, operator.id, sessionLimits(now));
  await insertSession(client, session, tokenHash);
  await recordSignIn(client, operator.id, now);
  const current = await describe(client, operator, session);
  await insertAuditEntry(client, {
    occurredAt: now,
    actor: `operator:${operator.email}`,
    action: 'operator.sign_in',
    subjectId: operator.id,
    reason: null,
    details: { method, network, session_id: session.id },
  });
  return { token, current };
}

function newToken(): { readonly token: string; readonly tokenHash: Buffer } {
  const token = createToken(randomBytes);
  const tokenHash = hashToken(token);
  if (tokenHash === null) throw new Error('the token has another form');
  return { token, tokenHash };
}

/** Replaces the token of a session, whose operator proved a credential again. */
export async function renew(
  client: PoolClient,
  operator: OperatorRecord,
  session: SessionRecord,
  now: Date,
): Promise<StartedSession> {
  const { token, tokenHash } = newToken();
  if (!(await renewSession(client, session, tokenHash, now))) throw notSignedIn();
  const renewed = { ...session, lastSeenAt: now, provedAt: now };
  return { token, current: await describe(client, operator, renewed) };
}

async function describe(
  db: PoolClient | SessionDependencies['pool'],
  operator: OperatorRecord,
  session: Pick<SessionRecord, 'id' | 'createdAt' | 'provedAt'>,
): Promise<CurrentOperator> {
  return {
    kind: 'session',
    id: operator.id,
    name: operator.name,
    email: operator.email,
    role: operator.role,
    fresh_until: freshUntil(session).toISOString(),
    session_id: session.id,
    expires_at: endOfTerm(session).toISOString(),
    totp_enabled: operator.totpEnabledAt !== null,
    recovery_codes_left: await countRecoveryCodes(db, operator.id),
  };
}

/** Describes the sender of a request. */
export async function viewCurrent(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
): Promise<CurrentOperator> {
  if (sender.kind === 'session') {
    const { operator, session } = await requireOwnSession(deps, sender);
    return describe(deps.pool, operator, session);
  }
  const { kind, id, name, role } = sender;
  return {
    kind,
    id,
    name,
    email: null,
    role,
    fresh_until: null,
    session_id: null,
    expires_at: null,
    totp_enabled: false,
    recovery_codes_left: 0,
  };
}

/** Finds the operator and the session of a request. @throws notSignedIn (401) */
export async function requireOwnSession(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
): Promise<{ readonly operator: OperatorRecord; readonly session: SessionRecord }> {
  const operator = sender.id === null ? null : await findOperator(deps.pool, sender.id);
  if (operator === null || operator.disabledAt !== null) throw notSignedIn();
  const sessions = await listValid(deps, operator.id);
  const session = sessions.find(({ id }) => id === sender.sessionId);
  if (session === undefined) throw notSignedIn();
  return { operator, session };
}

function listValid(deps: SessionDependencies, operatorId: string): Promise<SessionRecord[]> {
  const limits = sessionLimits(deps.clock.now());
  return deps.databaseLimiter.run(() => listSessionRecords(deps.pool, operatorId, limits));
}

/** Lists the sessions of the operator of a request. */
export async function listSessions(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
): Promise<OperatorSessions> {
  const sessions = await listValid(deps, requireId(sender));
  return {
    items: sessions.map((session) => ({
      id: session.id,
      is_current: session.id === sender.sessionId,
      created_at: session.createdAt.toISOString(),
      last_seen_at: session.lastSeenAt.toISOString(),
      expires_at: endOfSession(session).toISOString(),
      network: session.network,
      user_agent: session.userAgent,
    })),
  };
}

function requireId({ id }: AuthenticatedOperator): string {
  if (id === null) throw notSignedIn();
  return id;
}

/** Ends the session of a request. */
export async function signOut(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
): Promise<void> {
  await revokeSession(deps, sender, sender.sessionId ?? '');
}

/**
 * Ends one session of the operator of a request.
 * @throws notFound (404) when the operator has no such session
 */
export async function revokeSession(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
  sessionId: string,
): Promise<void> {
  const operatorId = requireId(sender);
  await inTransaction(deps.pool, async (client) => {
    if (!(await deleteSession(client, operatorId, sessionId))) throw notFound();
    await auditEnd(deps, client, sender, { session_id: sessionId });
  });
}

/** Ends all other sessions of the operator of a request. */
export async function revokeOtherSessions(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
): Promise<void> {
  const operatorId = requireId(sender);
  await inTransaction(deps.pool, async (client) => {
    const sessions = await deleteSessions(client, operatorId, sender.sessionId);
    if (sessions > 0) await auditEnd(deps, client, sender, { sessions });
  });
}

function auditEnd(
  { clock }: SessionDependencies,
  client: PoolClient,
  sender: AuthenticatedOperator,
  details: Readonly<Record<string, string | number>>,
): Promise<void> {
  return insertAuditEntry(client, {
    occurredAt: clock.now(),
    actor: sender.actor,
    action: 'operator.end_session',
    subjectId: requireId(sender),
    reason: null,
    details,
  });
}
