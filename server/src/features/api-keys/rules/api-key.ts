/**
 * What an API key may be good for:
 * - `outreach:send`: to send outreach e-mail;
 * - `metrics:read`: to read `/metrics`;
 * - `subscribers:write`: to subscribe addresses without the limit on requests, for a server that passes on its form;
 * - `admin`: everything, the scopes to come included.
 */
export const API_KEY_SCOPES = [
  'outreach:send',
  'metrics:read',
  'subscribers:write',
  'admin',
] as const;

export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/**
 * Whether scopes include the one that is asked for.
 * @param scopes as they are stored; one that this version does not know is good for nothing
 */
export function grantsScope(scopes: readonly string[], required: ApiKeyScope): boolean {
  return scopes.includes('admin') || scopes.includes(required);
}

/** The moments that decide over an API key. */
export interface ApiKeyFacts {
  readonly createdAt: Date;
  /** Null is for good. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** The id of the key that this one was rolled to. */
  readonly replacedBy: string | null;
}

/** `rolled`: replaced by another key, and good until the overlap is over. */
export type ApiKeyState = 'active' | 'rolled' | 'expired' | 'revoked';

/** What an API key is at a moment. A key is good until its end, and no longer at the very moment. */
export function apiKeyState(key: ApiKeyFacts, now: Date): ApiKeyState {
  if (key.revokedAt !== null) return 'revoked';
  if (key.expiresAt !== null && key.expiresAt <= now) return 'expired';
  return key.replacedBy === null ? 'active' : 'rolled';
}

/** Whether an API key opens anything at a moment. */
export function isUsable(key: ApiKeyFacts, now: Date): boolean {
  const state = apiKeyState(key, now);
  return state === 'active' || state === 'rolled';
}

/** When a key that is rolled now ends: with the overlap, and not later than it would have by itself. */
export function endOfOverlap(key: ApiKeyFacts, now: Date, overlapMs: number): Date {
  const end = now.getTime() + overlapMs;
  return new Date(Math.min(end, key.expiresAt?.getTime() ?? end));
}

/** When the successor of a key ends: it runs as long as the key was made to run. */
export function expiryOfSuccessor(key: ApiKeyFacts, now: Date): Date | null {
  if (key.expiresAt === null) return null;
  return new Date(now.getTime() + key.expiresAt.getTime() - key.createdAt.getTime());
}
