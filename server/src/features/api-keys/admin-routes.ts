/** The API keys of programs, for administrators. */
import {
  apiKeys,
  createApiKey,
  revokeApiKey,
  rollApiKey,
  type IssuedApiKey,
} from '@latchkey/contract';

import { noSuch } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';

import { serveList, type ListDependencies } from '../lists/serve-list.ts';
import { apiKeySource, viewApiKey } from './list-api-keys.ts';
import * as manage from './manage.ts';

export function registerAdminApiKeyRoutes(app: App, deps: ListDependencies): void {
  serveList(app, deps, apiKeys, apiKeySource(deps));
  serveOperation(app, createApiKey, async ({ body, operator }) => {
    const { name, scopes, expires_at: end, reason = null } = body;
    const term = { until: readTimeFilter('body', 'expires_at', end ?? undefined) ?? null };
    const change = { actor: operator.actor, reason };
    return viewIssued(deps, await manage.createApiKey(deps, { name, scopes, term }, change));
  });
  serveOperation(app, rollApiKey, async ({ params, body, operator }) => {
    const { overlap_seconds: seconds, reason = null } = body;
    const roll = { idOrName: params.id, overlapMs: seconds * 1_000, actor: operator.actor, reason };
    return viewIssued(deps, await manage.rollApiKey(deps, roll));
  });
  serveOperation(app, revokeApiKey, async ({ params, body, operator }) => {
    const revocation = { idOrName: params.id, actor: operator.actor, reason: body.reason };
    const [key] = await manage.revokeApiKey(deps, revocation);
    if (key === undefined) throw noSuch('There is no such API key, or it is revoked.');
    return viewApiKey(key, deps.clock.now());
  });
}

function viewIssued(
  { clock }: ListDependencies,
  { apiKey, key }: manage.CreatedApiKey,
): IssuedApiKey {
  return { api_key: apiKey, key: viewApiKey(key, clock.now()) };
}
