import { searchEverything } from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import { search, type SearchDependencies } from './search.ts';

/** Registers the search. */
export function registerSearchRoutes(app: App, deps: SearchDependencies): void {
  serveOperation(app, searchEverything, ({ query }) => search(deps, query.q), OWN_SLOTS);
}
