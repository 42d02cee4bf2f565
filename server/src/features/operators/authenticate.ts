import type { OperatorRole } from '@latchkey/contract';

import { forbidden, freshProofRequired, insufficientScope, notSignedIn } from '#server/errors.ts';

import { identifyApiKey, type AuthenticationDependencies } from '../api-keys/authenticate.ts';
import { findSession, recordSessionUse, type FoundSession } from './queries/sessions.ts';
import { freshUntil, includesRole, roleOfScopes, sessionLimits } from './rules/operator.ts';
import { hashToken } from './rules/token.ts';

/** What an operation requires. */
export interface RequiredAccess {
  readonly role: OperatorRole;
  readonly fresh: boolean;
  /** Default: false. */
  readonly sessionOnly?: boolean;
}

/** The operator, or the API key, that sent a request. */
export interface AuthenticatedOperator {
  readonly kind: 'session' | 'api_key';
  /** Null for a configured API key. */
  readonly id: string | null;
  readonly name: string;
  /** Null for an API key. */
  readonly email: string | null;
  readonly role: OperatorRole;
  /** Null: always fresh. */
  readonly freshUntil: Date | null;
  readonly sessionId: string | null;
  /** For the audit log. */
  readonly actor: string;
}

/**
 * Authenticates a request of the operator interface by its session or its API key.
 * @throws PublicError not_signed_in (401), invalid_api_key (401), insufficient_scope (403), forbidden (403),
 * fresh_proof_required (403)
 */
export async function authenticateOperator(
  deps: AuthenticationDependencies,
  credential:
    | { readonly kind: 'session'; readonly token: string }
    | { readonly kind: 'api_key'; readonly apiKey: string },
  required: RequiredAccess,
): Promise<AuthenticatedOperator> {
  const operator =
    credential.kind === 'api_key'
      ? await fromApiKey(deps, credential.apiKey)
      : fromSession(await requireSession(deps, credential.token));
  if (operator.kind === 'api_key' && required.sessionOnly === true) throw forbidden(null);
  if (!includesRole(operator.role, required.role)) throw forbidden(required.role);
  const isFresh = operator.freshUntil === null || operator.freshUntil > deps.clock.now();
  if (required.fresh && !isFresh) throw freshProofRequired();
  return operator;
}

async function fromApiKey(
  deps: AuthenticationDependencies,
  apiKey: string,
): Promise<AuthenticatedOperator> {
  const { id, name, scopes } = await identifyApiKey(deps, apiKey);
  const role = roleOfScopes(scopes);
  if (role === null) throw insufficientScope('admin:read');
  const shown = name ?? 'configured';
  return {
    kind: 'api_key',
    id,
    name: shown,
    email: null,
    role,
    freshUntil: null,
    sessionId: null,
    // An actor is words separated by spaces; a name must not add another one.
    actor: `api_key:${shown.replaceAll(/[^\w.@$\\+-]/gu, '?')}`,
  };
}

async function requireSession(
  deps: AuthenticationDependencies,
  token: string,
): Promise<FoundSession> {
  const tokenHash = hashToken(token);
  if (tokenHash === null) throw notSignedIn();
  const now = deps.clock.now();
  const session = await deps.databaseLimiter.run(() =>
    findSession(deps.pool, tokenHash, sessionLimits(now)),
  );
  if (session === null) throw notSignedIn();
  recordUse(deps, session, now);
  return session;
}

function fromSession(session: FoundSession): AuthenticatedOperator {
  const { id, name, role, email } = session.operator;
  return {
    kind: 'session',
    id,
    name,
    email,
    role,
    freshUntil: freshUntil(session),
    sessionId: session.id,
    actor: `operator:${email}`,
  };
}

/** The last use of a session is stored to the minute, so that a busy page costs one write a minute. */
const USE_RESOLUTION_MS = 60_000;

function recordUse(deps: AuthenticationDependencies, session: FoundSession, now: Date): void {
  const unlessSince = new Date(now.getTime() - USE_RESOLUTION_MS);
  if (session.lastSeenAt > unlessSince) return;
  deps.databaseLimiter
    .run(() => recordSessionUse(deps.pool, session.id, now, unlessSince))
    .catch((error: unknown) => {
      const fields = { event: 'operator.recording_use_failed', err: error, sessionId: session.id };
      deps.log.warn(fields, 'could not record the use of a session');
    });
}
