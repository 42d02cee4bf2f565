/** The API keys of programs, for administrators. */
import {
  ApiKey,
  ApiKeyCreate,
  ApiKeyPath,
  ApiKeyQuery,
  ApiKeyRoll,
  ApiKeyRowsQuery,
  ApiKeys,
  IssuedApiKey,
  KeyRevocation,
  ref,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import { noSuch } from '#server/errors.ts';
import {
  answerPage,
  csvAnswer,
  readOrder,
  readPageRequest,
  answerCsv,
} from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { ADMIN, ADMIN_FRESH, operatorOf } from '#server/http/require-operator.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { exportApiKeys, listApiKeyPage, type ApiKeyListDependencies } from './list-api-keys.ts';
import {
  createApiKey,
  revokeApiKey,
  rollApiKey,
  viewApiKey,
  type CreatedApiKey,
  type ViewedApiKey,
} from './manage.ts';

const API_KEYS = '/api/v1/admin/api-keys';
const TAGS = ['admin: keys'];

export function registerAdminApiKeyRoutes(app: App, deps: ApiKeyListDependencies): void {
  app.get(API_KEYS, { config: ADMIN, schema: listOperation }, ({ query }) =>
    answerPage(
      readPageRequest(query, '-created_at'),
      (page) => listApiKeyPage(deps, query, page),
      (key) => toApiKey(viewApiKey(key, deps.clock.now())),
    ),
  );
  app.get(
    `${API_KEYS}/export`,
    { config: ADMIN_FRESH, schema: exportOperation },
    async (request, reply) => {
      const { query } = request;
      const order = readOrder(query, '-created_at');
      const rows = await exportApiKeys(deps, query, order, operatorOf(request).actor);
      const now = deps.clock.now();
      return answerCsv(reply, 'api-keys', CSV_COLUMNS, view(rows, now));
    },
  );
  registerChanges(app, deps);
}

async function* view(
  rows: AsyncIterable<ViewedApiKey['key']>,
  now: Date,
): AsyncGenerator<ViewedApiKey> {
  for await (const key of rows) yield viewApiKey(key, now);
}

const CSV_COLUMNS: CsvColumns<ViewedApiKey> = {
  id: ({ key }) => key.id,
  name: ({ key }) => key.name,
  key_hint: ({ key }) => key.keyHint,
  scopes: ({ key }) => key.scopes.join(' '),
  state: ({ state }) => state,
  created_at: ({ key }) => key.createdAt,
  expires_at: ({ key }) => key.expiresAt,
  last_used_at: ({ key }) => key.lastUsedAt,
  revoked_at: ({ key }) => key.revokedAt,
};

function registerChanges(app: App, deps: ApiKeyListDependencies): void {
  const issued = (created: CreatedApiKey): IssuedApiKey => ({
    api_key: created.apiKey,
    key: toApiKey(viewApiKey(created.key, deps.clock.now())),
  });
  app.post(API_KEYS, { config: ADMIN_FRESH, schema: createOperation }, (request) => {
    const { name, scopes, expires_at: end, reason = null } = request.body;
    const term = { until: readTimeFilter('body', 'expires_at', end ?? undefined) ?? null };
    const change = { actor: operatorOf(request).actor, reason };
    return createApiKey(deps, { name, scopes, term }, change).then(issued);
  });
  app.post(
    `${API_KEYS}/:id/roll`,
    { config: ADMIN_FRESH, schema: rollOperation },
    async (request) => {
      const { overlap_seconds: seconds, reason = null } = request.body;
      const { actor } = operatorOf(request);
      const { id } = request.params;
      const roll = { idOrName: id, overlapMs: seconds * 1_000, actor, reason };
      return issued(await rollApiKey(deps, roll));
    },
  );
  app.post(
    `${API_KEYS}/:id/revoke`,
    { config: ADMIN_FRESH, schema: revokeOperation },
    async (request) => {
      const { actor } = operatorOf(request);
      const { reason } = request.body;
      const [key] = await revokeApiKey(deps, { idOrName: request.params.id, actor, reason });
      if (key === undefined) throw noSuch('There is no such API key, or it is revoked.');
      return toApiKey(viewApiKey(key, deps.clock.now()));
    },
  );
}

function toApiKey({ key, state }: ViewedApiKey): ApiKey {
  return {
    id: key.id,
    name: key.name,
    key_hint: key.keyHint,
    scopes: [...key.scopes],
    state,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    replaced_by: key.replacedBy,
  };
}

const listOperation = {
  operationId: 'listApiKeys',
  tags: TAGS,
  summary: 'List API keys',
  querystring: ApiKeyQuery,
  response: { 200: ref(ApiKeys, 'A page of API keys.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportApiKeys',
  tags: TAGS,
  summary: 'Export API keys as CSV',
  description: 'Without the keys themselves, which are not stored.',
  querystring: ApiKeyRowsQuery,
  response: csvAnswer('One line for each API key.'),
} satisfies FastifySchema;

const createOperation = {
  operationId: 'createApiKey',
  tags: TAGS,
  summary: 'Create an API key',
  body: ref(ApiKeyCreate),
  response: { 200: ref(IssuedApiKey, 'The key, which cannot be shown again.') },
  problems: ['not_possible'],
} satisfies FastifySchema;

const rollOperation = {
  operationId: 'rollApiKey',
  tags: TAGS,
  summary: 'Replace an API key',
  description:
    'The new key has the same name, scopes and term; the old one ends after the overlap.',
  params: ApiKeyPath,
  body: ref(ApiKeyRoll),
  response: { 200: ref(IssuedApiKey, 'The new key, which cannot be shown again.') },
  problems: ['not_found', 'not_possible'],
} satisfies FastifySchema;

const revokeOperation = {
  operationId: 'revokeApiKey',
  tags: TAGS,
  summary: 'Revoke an API key',
  params: ApiKeyPath,
  body: ref(KeyRevocation),
  response: { 200: ref(ApiKey, 'The revoked key.') },
  problems: ['not_found'],
} satisfies FastifySchema;
