import type { WebhookEndpointItem, WebhookEndpointRowsQuery } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import {
  queryAllPages,
  queryPage,
  type Condition,
  type ListOrder,
  type Page,
  type PageRequest,
} from '#server/db/list.ts';
import { noSuch } from '#server/errors.ts';

import { recordAccess } from '../audit/record-access.ts';
import type { DeliveryListDependencies } from './list-deliveries.ts';
import {
  endpointList,
  isEndpoint,
  isInState,
  matchesText,
  type ListedEndpoint,
} from './queries/endpoint-list.ts';
import { viewEndpoint } from './view-endpoint.ts';

export type { ListedEndpoint };

type Filters = Pick<WebhookEndpointRowsQuery, 'search' | 'state'>;

/** Lists a page of endpoints. @throws InvalidPositionError */
export function listEndpointPage(
  { pool }: { readonly pool: Pool },
  filters: Filters,
  request: PageRequest,
): Promise<Page<ListedEndpoint>> {
  return queryPage(pool, endpointList, request, toConditions(filters));
}

/** Reads all endpoints of a filter, after an audit entry. */
export async function exportEndpoints(
  deps: DeliveryListDependencies & { readonly clock: Clock },
  filters: Filters,
  order: ListOrder,
  actor: string,
): Promise<AsyncIterable<ListedEndpoint>> {
  const details = { state: filters.state ?? null };
  const entry = { actor, action: 'endpoint.export', subjectId: 'endpoints', reason: null, details };
  await recordAccess(deps, entry);
  return queryAllPages(deps, endpointList, order, toConditions(filters));
}

function toConditions({ state, search = '' }: Filters): Condition[] {
  return [
    ...(state === undefined ? [] : [isInState(state)]),
    ...(search.trim() === '' ? [] : [matchesText(search.trim())]),
  ];
}

/** Shows one endpoint. @throws noSuch (404) */
export async function showEndpoint(
  { pool }: { readonly pool: Pool },
  id: string,
): Promise<WebhookEndpointItem> {
  const request = { sort: 'created_at', descending: false, after: null, limit: 1 };
  const { rows } = await queryPage(pool, endpointList, request, [isEndpoint(id)]);
  const [endpoint] = rows;
  if (endpoint === undefined) throw noSuch('There is no such endpoint, or it was removed.');
  return viewListedEndpoint(endpoint);
}

/** Converts an endpoint to an item of the interface. */
export function viewListedEndpoint(endpoint: ListedEndpoint): WebhookEndpointItem {
  const { pending, failed } = endpoint;
  return { ...viewEndpoint(endpoint), pending, failed };
}
