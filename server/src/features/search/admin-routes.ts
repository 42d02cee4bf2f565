import { ref, SearchQuery, SearchResults } from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { VIEWER } from '#server/http/require-operator.ts';

import { search, type SearchDependencies } from './search.ts';

/** Registers the search. */
export function registerSearchRoutes(app: App, deps: SearchDependencies): void {
  app.get(
    '/api/v1/admin/search',
    { config: { ...VIEWER, ...OWN_SLOTS }, schema: searchOperation },
    ({ query }) => search(deps, query.q),
  );
}

const searchOperation = {
  operationId: 'search',
  tags: ['admin: start'],
  summary: 'Search for anything by its key, id or e-mail address',
  description:
    'Keys and ids are found as a whole, e-mail addresses, names, machines and UUIDs also by their beginning. A text of one character finds nothing.',
  querystring: SearchQuery,
  response: { 200: ref(SearchResults, 'What was found, by kind.') },
} satisfies FastifySchema;
