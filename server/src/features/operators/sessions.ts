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
import { recordNetwork } from './queries/networks.ts';
import { lockOperator, recordSignIn, type OperatorRecord } from './queries/operators.ts';
import { countPasskeys } from './queries/passkeys.ts';
import { countRecoveryCodes } from './queries/recovery-codes.ts';
import {
  deleteOldSessions,
  deleteSession,
  deleteSessions,
  findSessionOf,
  insertSession,
  listSessionRecords,
  renewSession,
  type FoundSession,
  type SessionRecord,
} from './queries/sessions.ts';
import { endOfTerm, freshUntil, sessionLimits } from './rules/operator.ts';
import { createToken, hashToken } from './rules/token.ts';
import { viewOperatorSession } from './view-operator.ts';

/** A started or renewed session: the token goes into the cookie and is stored nowhere. */
export interface StartedSession {
  readonly token: string;
  readonly current: CurrentOperator;
}

const MAX_USER_AGENT = 300;

/**
 * Starts a session of an operator who proved a credential. The token is always new, which prevents session fixation.
 * @param method for the audit log: `link`, `password`, `totp`, `recovery_code`, `passkey`, `provider` or `trusted_header`
 * @param provedAt when the credential was proved
 */
export async function startSession(
  client: PoolClient,
  operator: OperatorRecord,
  { network, userAgent }: Client,
  method: string,
  now: Date,
  provedAt: Date = now,
): Promise<StartedSession> {
  const session: SessionRecord = {
    id: makeUuid(),
    operatorId: operator.id,
    createdAt: now,
    lastSeenAt: now,
    provedAt,
    network,
    // Control characters and lone surrogates are replaced: PostgreSQL rejects NUL and invalid UTF-8.
    userAgent: userAgent
      .replaceAll(/[\p{Cc}\p{Cs}]/gu, '?')
      .slice(0, MAX_USER_AGENT)
      .toWellFormed(),
  };
  const { token, tokenHash } = newToken();
  await deleteOldSessions(client, operator.id, sessionLimits(now));
  await insertSession(client, session, tokenHash);
  await recordNetwork(client, operator.id, network, now);
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

/** Starts a session of an operator; null if there is none with the id, or if it is disabled. */
export async function startSessionOf(
  deps: SessionDependencies,
  operatorId: string,
  client: Client,
  method: string,
  provedAt?: Date,
): Promise<StartedSession | null> {
  return inTransaction(deps.pool, async (db) => {
    const operator = await lockOperator(db, operatorId);
    if (operator === null || operator.disabledAt !== null) return null;
    return startSession(db, operator, client, method, deps.clock.now(), provedAt);
  });
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
  { id, createdAt }: Pick<SessionRecord, 'id' | 'createdAt'>,
  now: Date,
): Promise<StartedSession> {
  const { token, tokenHash } = newToken();
  if (!(await renewSession(client, operator.id, id, tokenHash, now))) throw notSignedIn();
  return { token, current: await describe(client, operator, { id, createdAt, provedAt: now }) };
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
    has_password: operator.passwordHash !== null,
    passkeys: await countPasskeys(db, operator.id),
  };
}

/** Describes the sender of a request. */
export async function viewCurrent(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
): Promise<CurrentOperator> {
  if (sender.kind === 'session') {
    const session = await requireOwnSession(deps, sender);
    return describe(deps.pool, session.operator, session);
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
    has_password: false,
    passkeys: 0,
  };
}

/** Finds the session of a request, with its operator. @throws notSignedIn (401) */
export async function requireOwnSession(
  deps: SessionDependencies,
  { id, sessionId }: Pick<AuthenticatedOperator, 'id' | 'sessionId'>,
): Promise<FoundSession> {
  if (id === null || sessionId === null) throw notSignedIn();
  const limits = sessionLimits(deps.clock.now());
  const session = await findSessionOf(deps.pool, id, sessionId, limits);
  if (session === null) throw notSignedIn();
  return session;
}

/** Lists the sessions of the operator of a request. */
export async function listSessions(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
): Promise<OperatorSessions> {
  const limits = sessionLimits(deps.clock.now());
  const operatorId = requireId(sender);
  const sessions = await listSessionRecords(deps.pool, operatorId, limits);
  return {
    items: sessions.map((session) => viewOperatorSession(session, sender.sessionId)),
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
 * Ends one session of an operator.
 * @param operatorId default: the operator of the request
 * @throws notFound (404) when the operator has no such session
 */
export async function revokeSession(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
  sessionId: string,
  operatorId: string = requireId(sender),
): Promise<void> {
  await inTransaction(deps.pool, async (client) => {
    if (!(await deleteSession(client, operatorId, sessionId))) throw notFound();
    await auditEnd(deps, client, sender, operatorId, { session_id: sessionId });
  });
}

/**
 * Ends all sessions of an operator but that of the request.
 * @param operatorId default: the operator of the request
 */
export async function revokeOtherSessions(
  deps: SessionDependencies,
  sender: AuthenticatedOperator,
  operatorId: string = requireId(sender),
): Promise<void> {
  await inTransaction(deps.pool, async (client) => {
    const sessions = await deleteSessions(client, operatorId, sender.sessionId);
    if (sessions > 0) await auditEnd(deps, client, sender, operatorId, { sessions });
  });
}

function auditEnd(
  { clock }: SessionDependencies,
  client: PoolClient,
  { actor }: AuthenticatedOperator,
  operatorId: string,
  details: Readonly<Record<string, string | number>>,
): Promise<void> {
  return insertAuditEntry(client, {
    occurredAt: clock.now(),
    actor,
    action: 'operator.end_session',
    subjectId: operatorId,
    reason: null,
    details,
  });
}
