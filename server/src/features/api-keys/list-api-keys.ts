import type { ApiKeyRowsQuery } from '@latchkey/contract';

import {
  queryAllPages,
  queryPage,
  type Condition,
  type ListOrder,
  type Page,
  type PageRequest,
} from '#server/db/list.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import { recordAccess } from '../audit/record-access.ts';
import type { ApiKeyDependencies } from './manage.ts';
import type { ApiKeyRecord } from './queries.ts';
import { apiKeyList, hasScope, isInState, nameContains } from './queries/list.ts';

export interface ApiKeyListDependencies extends ApiKeyDependencies {
  readonly databaseLimiter: ConcurrencyLimiter;
}

type Filters = Pick<ApiKeyRowsQuery, 'scope' | 'search' | 'state'>;

/** Lists a page of API keys. */
export function listApiKeyPage(
  deps: ApiKeyListDependencies,
  filters: Filters,
  request: PageRequest,
): Promise<Page<ApiKeyRecord>> {
  const conditions = toConditions(filters, deps.clock.now());
  return queryPage(deps.pool, apiKeyList, request, conditions);
}

function toConditions({ scope, state, search = '' }: Filters, now: Date): Condition[] {
  return [
    ...(scope === undefined ? [] : [hasScope(scope)]),
    ...(state === undefined ? [] : [isInState(state, now)]),
    ...(search.trim() === '' ? [] : [nameContains(search.trim())]),
  ];
}

/** Exports API keys without the keys themselves, with an audit entry. */
export async function exportApiKeys(
  deps: ApiKeyListDependencies,
  filters: Filters,
  order: ListOrder,
  actor: string,
): Promise<AsyncIterable<ApiKeyRecord>> {
  const entry = { actor, action: 'api_key.export', subjectId: '*', reason: null, details: {} };
  await recordAccess(deps, entry);
  return queryAllPages(deps, apiKeyList, order, toConditions(filters, deps.clock.now()));
}
