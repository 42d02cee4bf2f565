import type { ViewedApiKey } from '#server/features/api-keys/list.ts';
import type { Cell } from '../output.ts';

/** An API key for programs; never the key itself. */
export function toKeyJson({ key, state }: ViewedApiKey) {
  return {
    id: key.id,
    name: key.name,
    key_hint: key.keyHint,
    scopes: key.scopes,
    state,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    last_used_at: key.lastUsedAt,
    revoked_at: key.revokedAt,
    replaced_by: key.replacedBy,
  };
}

/** An API key that was just made, for people. */
export function toKeyFields({ key }: ViewedApiKey): (readonly [string, Cell])[] {
  return [
    ['id', key.id],
    ['name', key.name],
    ['scopes', key.scopes.join(' ')],
    ['expires', key.expiresAt ?? 'never'],
  ];
}
