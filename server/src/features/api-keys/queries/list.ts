import { condition, defineList, type Condition } from '#server/db/list.ts';
import { columnsOf } from '#server/db/statement.ts';

import { ApiKeyRow } from '../queries.ts';

/** Few rows: neither the orders nor the search need an index. */
export const apiKeyList = defineList({
  name: 'api_key_list_page',
  row: ApiKeyRow,
  columns: columnsOf(ApiKeyRow),
  from: 'api_keys',
  id: { sql: 'id', type: 'uuid' },
  sorts: {
    created_at: { sql: 'created_at', type: 'timestamptz' },
    name: { sql: 'lower(name)', type: 'text' },
    expires_at: { sql: `coalesce(expires_at, 'infinity')`, type: 'timestamptz' },
    last_used_at: { sql: `coalesce(last_used_at, '-infinity')`, type: 'timestamptz' },
  },
});

/** The keys whose name contains a text, in upper or lower case. */
export function nameContains(text: string): Condition {
  return condition('strpos(lower(name), lower(?)) > 0', text);
}

/** The keys with a scope. */
export function hasScope(scope: string): Condition {
  return condition('? = any (scopes)', scope);
}

/** The keys in a state at a time, as `apiKeyState` computes it. */
export function isInState(state: string, now: Date): Condition {
  return condition(
    `? = case when revoked_at is not null then 'revoked' when expires_at <= ? then 'expired'
              when replaced_by is null then 'active' else 'rolled' end`,
    state,
    now,
  );
}
