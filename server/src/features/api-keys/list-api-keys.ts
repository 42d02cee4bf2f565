import type { ApiKey, apiKeys } from '@latchkey/contract';
import type { Pool } from 'pg';

import { selectFrom, type ListSource } from '../lists/list-source.ts';
import type { ApiKeyRecord } from './queries.ts';
import { apiKeyList, hasScope, isInState, nameContains } from './queries/list.ts';
import { apiKeyState } from './rules/api-key.ts';

/** Where the list of API keys comes from. */
export function apiKeySource(deps: {
  readonly pool: Pool;
}): ListSource<typeof apiKeys, ApiKeyRecord> {
  const filters = { state: isInState, scope: hasScope, search: nameContains };
  return { read: selectFrom(deps, apiKeyList, filters), view: viewApiKey };
}

/** Returns an API key as operators see it. */
export function viewApiKey(key: ApiKeyRecord, now: Date): ApiKey {
  return {
    id: key.id,
    name: key.name,
    key_hint: key.keyHint,
    scopes: [...key.scopes],
    state: apiKeyState(key, now),
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    replaced_by: key.replacedBy,
  };
}
