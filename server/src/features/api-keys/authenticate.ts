import { timingSafeEqual } from 'node:crypto';

import type { ApiKeyScope } from '@latchkey/contract';

import type { Secrets } from '#server/config/secrets.ts';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

import type { Clock } from '#server/clock.ts';
import { insufficientScope, invalidApiKey } from '#server/errors.ts';
import { hashApiKey, isApiKey } from '#server/lib/api-key.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import { findApiKeyByHash, recordApiKeyUse, type ApiKeyRecord } from './queries.ts';
import { grantsScope, isUsable } from './rules/api-key.ts';

/** The key of a request. */
export interface AuthenticatedApiKey {
  /** Null for a configured key. */
  readonly id: string | null;
  /** Null for a configured key. */
  readonly name: string | null;
  readonly scopes: readonly string[];
}

export interface AuthenticationDependencies {
  readonly clock: Clock;
  readonly configuredApiKeys: readonly ConfiguredApiKey[];
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly log: Logger;
  readonly pool: Pool;
}

/** The last use of a key is stored to the minute, so that a busy key costs one write a minute. */
const USE_RESOLUTION_MS = 60_000;

/**
 * Authenticates a request by its API key. A key of the service's own format with a wrong checksum is refused without a
 * query. The last use is recorded in the background, and a failure of that is only logged.
 * @param presented the key as Node reads a header: a character for each byte
 * @throws PublicError `invalid_api_key` (401) when it is unknown, expired or revoked, all alike; `insufficient_scope`
 * (403) when it is valid, but lacks the scope
 */
export async function authenticateApiKey(
  deps: AuthenticationDependencies,
  presented: string,
  requiredScope: ApiKeyScope,
): Promise<AuthenticatedApiKey> {
  const key = await identifyApiKey(deps, presented);
  if (!grantsScope(key.scopes, requiredScope)) throw insufficientScope(requiredScope);
  return key;
}

/**
 * Finds the API key of a request, whatever its scopes, like {@link authenticateApiKey}.
 * @throws PublicError `invalid_api_key` (401)
 */
export async function identifyApiKey(
  deps: AuthenticationDependencies,
  presented: string,
): Promise<AuthenticatedApiKey> {
  const key = findConfigured(deps, presented) ?? (await findStored(deps, presented));
  if (key === null) throw invalidApiKey();
  return key;
}

/** Compares every configured key, so that the duration does not depend on which one matches. */
function findConfigured(
  { configuredApiKeys }: AuthenticationDependencies,
  presented: string,
): AuthenticatedApiKey | null {
  // A configured key may have letters beyond ASCII, which are sent as the bytes of UTF-8.
  const presentedHash = hashApiKey(Buffer.from(presented, 'latin1'));
  const found = configuredApiKeys.filter(({ keyHash }) => timingSafeEqual(keyHash, presentedHash));
  return found.length === 0
    ? null
    : { id: null, name: null, scopes: found.map(({ scope }) => scope) };
}

async function findStored(
  deps: AuthenticationDependencies,
  presented: string,
): Promise<AuthenticatedApiKey | null> {
  if (!isApiKey(presented)) return null;
  const presentedHash = hashApiKey(presented);
  const key = await deps.databaseLimiter.run(() => findApiKeyByHash(deps.pool, presentedHash));
  // The index compares bytes until one differs; this comparison takes constant time.
  if (key === null || !timingSafeEqual(key.keyHash, presentedHash)) return null;
  const now = deps.clock.now();
  if (!isUsable(key, now)) return null;
  recordUse(deps, key, now);
  return { id: key.id, name: key.name, scopes: key.scopes };
}

function recordUse(deps: AuthenticationDependencies, key: ApiKeyRecord, now: Date): void {
  const unlessSince = new Date(now.getTime() - USE_RESOLUTION_MS);
  if (key.lastUsedAt !== null && key.lastUsedAt > unlessSince) return;
  deps.databaseLimiter
    .run(() => recordApiKeyUse(deps.pool, key.id, now, unlessSince))
    .catch((error: unknown) => {
      const event = 'api_key.recording_use_failed';
      deps.log.warn(
        { event, err: error, apiKeyId: key.id },
        'could not record the use of an API key',
      );
    });
}

/** A key of the configuration, of any format, which is checked without the database. */
export interface ConfiguredApiKey {
  /** SHA-256 of its text in UTF-8. */
  readonly keyHash: Buffer;
  readonly scope: ApiKeyScope;
}

/** Reads the configured keys: `LATCHKEY_OUTREACH_API_KEY` and `LATCHKEY_METRICS_TOKEN`. */
export function readConfiguredKeys(
  secrets: Pick<Secrets, 'outreachApiKey' | 'metricsToken'>,
): ConfiguredApiKey[] {
  return [
    ...toKey(secrets.outreachApiKey, 'outreach:send'),
    ...toKey(secrets.metricsToken, 'metrics:read'),
  ];
}

function toKey(text: string | null, scope: ApiKeyScope): ConfiguredApiKey[] {
  return text === null ? [] : [{ keyHash: hashApiKey(text), scope }];
}
