import { timingSafeEqual } from 'node:crypto';

import type { Secrets } from '#server/config/secrets.ts';
import type { Context } from '#server/context.ts';
import { insufficientScope, invalidApiKey } from '#server/errors.ts';
import { hashApiKey, isApiKey } from '#server/lib/api-key.ts';

import { findApiKeyByHash, recordApiKeyUse, type ApiKeyRecord } from './queries.ts';
import { grantsScope, type ApiKeyScope, isUsable } from './rules/api-key.ts';

/** Whose key a request came with. */
export interface AuthenticatedApiKey {
  /** Null: a key of the configuration. */
  readonly id: string | null;
  readonly scopes: readonly string[];
}

type AuthenticationContext = Pick<
  Context,
  'pool' | 'databaseLimiter' | 'clock' | 'log' | 'configuredApiKeys'
>;

/** The last use of a key is told to the minute, so that a busy key costs one write a minute. */
const USE_RESOLUTION_MS = 60_000;

/**
 * Lets a request pass that came with an API key of a scope. A key in our form with a wrong checksum is refused without
 * asking the database; the last use is recorded behind the request's back, and a failure to do so is only logged.
 * @param presented the key as Node gives a header: a character for each byte
 * @throws PublicError `invalid_api_key` (401) when it is unknown, expired or revoked, all alike; `insufficient_scope`
 * (403) when it is good, but not for this
 */
export async function authenticateApiKey(
  ctx: AuthenticationContext,
  presented: string,
  requiredScope: ApiKeyScope,
): Promise<AuthenticatedApiKey> {
  const key = findConfigured(ctx, presented) ?? (await findStored(ctx, presented));
  if (key === null) throw invalidApiKey();
  if (!grantsScope(key.scopes, requiredScope)) throw insufficientScope(requiredScope);
  return key;
}

/** Every configured key is compared, whichever fits, so that the time taken tells nothing. */
function findConfigured(
  { configuredApiKeys }: AuthenticationContext,
  presented: string,
): AuthenticatedApiKey | null {
  // A configured key may have letters beyond ASCII, which arrive as the bytes of UTF-8.
  const presentedHash = hashApiKey(Buffer.from(presented, 'latin1'));
  const found = configuredApiKeys.filter(({ keyHash }) => timingSafeEqual(keyHash, presentedHash));
  return found.length === 0 ? null : { id: null, scopes: found.map(({ scope }) => scope) };
}

async function findStored(
  ctx: AuthenticationContext,
  presented: string,
): Promise<AuthenticatedApiKey | null> {
  if (!isApiKey(presented)) return null;
  const presentedHash = hashApiKey(presented);
  const key = await ctx.databaseLimiter.run(() => findApiKeyByHash(ctx.pool, presentedHash));
  // The index found it by comparing bytes until one differed; this comparison does not stop there.
  if (key === null || !timingSafeEqual(key.keyHash, presentedHash)) return null;
  const now = ctx.clock.now();
  if (!isUsable(key, now)) return null;
  recordUse(ctx, key, now);
  return { id: key.id, scopes: key.scopes };
}

function recordUse(ctx: AuthenticationContext, key: ApiKeyRecord, now: Date): void {
  const unlessSince = new Date(now.getTime() - USE_RESOLUTION_MS);
  if (key.lastUsedAt !== null && key.lastUsedAt > unlessSince) return;
  ctx.databaseLimiter
    .run(() => recordApiKeyUse(ctx.pool, key.id, now, unlessSince))
    .catch((error: unknown) => {
      ctx.log.warn({ err: error, apiKeyId: key.id }, 'the use of an API key was not recorded');
    });
}

/** A key that the configuration names, of any form; it opens what it is for without the database. */
export interface ConfiguredApiKey {
  /** SHA-256 of its text in UTF-8. */
  readonly keyHash: Buffer;
  readonly scope: ApiKeyScope;
}

/** The keys among the secrets: `LATCHKEY_OUTREACH_API_KEY` and `LATCHKEY_METRICS_TOKEN`. */
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
