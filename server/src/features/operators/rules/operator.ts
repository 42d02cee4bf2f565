import { OPERATOR_ROLES, type OPERATOR_STATES, type OperatorRole } from '@latchkey/contract';

/** How long a sign-in link can be redeemed. */
export const LINK_TERM_MS = 30 * 60_000;

/** A session that is not used for this long ends. */
const SESSION_IDLE_MS = 7 * 86_400_000;

/** A session ends this long after the sign-in, whatever its use. */
const SESSION_TERM_MS = 30 * 86_400_000;

/** Dangerous operations need a proof that is not older. */
const FRESH_MS = 10 * 60_000;

/** Returns whether a role includes the permissions of another. */
export function includesRole(role: OperatorRole, required: OperatorRole): boolean {
  return OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(required);
}

/** Returns the role of an API key by its scopes; null if it may not use the operator interface. */
export function roleOfScopes(scopes: readonly string[]): OperatorRole | null {
  if (scopes.includes('admin')) return 'admin';
  if (scopes.includes('admin:support')) return 'support';
  return scopes.includes('admin:read') ? 'viewer' : null;
}

/** The times that determine the validity of a session. */
export interface SessionTimes {
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly provedAt: Date;
}

/** Returns when a session ends if it is not used again. */
export function endOfSession({ createdAt, lastSeenAt }: SessionTimes): Date {
  const idleEnd = lastSeenAt.getTime() + SESSION_IDLE_MS;
  return new Date(Math.min(idleEnd, endOfTerm({ createdAt }).getTime()));
}

/** Returns when a session ends at the latest. */
export function endOfTerm({ createdAt }: Pick<SessionTimes, 'createdAt'>): Date {
  return new Date(createdAt.getTime() + SESSION_TERM_MS);
}

/** Returns the earliest times of sessions that are still valid. */
export function sessionLimits(now: Date): {
  readonly seenAfter: Date;
  readonly createdAfter: Date;
} {
  return {
    seenAfter: new Date(now.getTime() - SESSION_IDLE_MS),
    createdAfter: new Date(now.getTime() - SESSION_TERM_MS),
  };
}

/** Returns until when a session needs no new proof. */
export function freshUntil({ provedAt }: Pick<SessionTimes, 'provedAt'>): Date {
  return new Date(provedAt.getTime() + FRESH_MS);
}

/**
 * Returns the time of the proof that a sign-in with the identity provider is: when the person proved a credential there.
 * @param signedInAt null: the provider does not state it, so that the session begins without a fresh proof
 */
export function provedAtProvider(signedInAt: Date | null, now: Date): Date {
  if (signedInAt === null) return new Date(0);
  return signedInAt < now ? signedInAt : now;
}

/** The state of an operator. `invited`: it has not signed in since it was created or reset. */
export type OperatorState = (typeof OPERATOR_STATES)[number];

/** Returns the state of an operator. */
export function operatorState(operator: {
  readonly lastSignInAt: Date | null;
  readonly disabledAt: Date | null;
}): OperatorState {
  if (operator.disabledAt !== null) return 'disabled';
  return operator.lastSignInAt === null ? 'invited' : 'active';
}
