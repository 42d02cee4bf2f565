import type { ApiKeyScope, ApiKeyState } from '@latchkey/contract';

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
