/**
 * The scopes of API keys:
 * - `outreach:send`: to send outreach e-mail;
 * - `metrics:read`: to read `/metrics`;
 * - `subscribers:write`: to subscribe addresses without the rate limit, for a server that forwards its form;
 * - `admin:read`, `admin:support`: the operator interface as `viewer` or `support`;
 * - `admin`: everything, including future scopes.
 */
export const API_KEY_SCOPES = [
  'outreach:send',
  'metrics:read',
  'subscribers:write',
  'admin:read',
  'admin:support',
  'admin',
] as const;

export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/**
 * Returns whether scopes include the required one.
 * @param scopes as they are stored; an unknown one grants nothing
 */
export function grantsScope(scopes: readonly string[], required: ApiKeyScope): boolean {
  return scopes.includes('admin') || scopes.includes(required);
}

/** The facts that determine the state of an API key. */
export interface ApiKeyFacts {
  readonly createdAt: Date;
  /** Null is never. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** The id of the successor. */
  readonly replacedBy: string | null;
}

/** `rolled`: replaced by another key, and valid until the end of the overlap. */
export type ApiKeyState = 'active' | 'rolled' | 'expired' | 'revoked';

/** Returns the state of an API key at a time. A key is valid before its expiry, and not at that very time. */
export function apiKeyState(key: ApiKeyFacts, now: Date): ApiKeyState {
  if (key.revokedAt !== null) return 'revoked';
  if (key.expiresAt !== null && key.expiresAt <= now) return 'expired';
  return key.replacedBy === null ? 'active' : 'rolled';
}

/** Returns whether an API key is valid at a time. */
export function isUsable(key: ApiKeyFacts, now: Date): boolean {
  const state = apiKeyState(key, now);
  return state === 'active' || state === 'rolled';
}

/** Returns when a key that is rolled now expires: with the overlap, and not later than its own expiry. */
export function endOfOverlap(key: ApiKeyFacts, now: Date, overlapMs: number): Date {
  const end = now.getTime() + overlapMs;
  return new Date(Math.min(end, key.expiresAt?.getTime() ?? end));
}

/** Returns when the successor of a key expires: it has the lifetime of the key. */
export function expiryOfSuccessor(key: ApiKeyFacts, now: Date): Date | null {
  if (key.expiresAt === null) return null;
  return new Date(now.getTime() + key.expiresAt.getTime() - key.createdAt.getTime());
}
