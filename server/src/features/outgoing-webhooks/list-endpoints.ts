import type { WebhookEndpointItem, webhookEndpoints } from '@latchkey/contract';
import type { Pool } from 'pg';

import { queryPage } from '#server/db/list.ts';
import { noSuch } from '#server/errors.ts';

import { selectFrom, type ListSource } from '../lists/list-source.ts';
import {
  endpointList,
  isEndpoint,
  isInState,
  matchesText,
  type ListedEndpoint,
} from './queries/endpoint-list.ts';
import { viewEndpoint } from './view-endpoint.ts';

/** Where the list of endpoints comes from. */
export function endpointSource(deps: {
  readonly pool: Pool;
}): ListSource<typeof webhookEndpoints, ListedEndpoint> {
  const filters = { state: isInState, search: matchesText };
  return { read: selectFrom(deps, endpointList, filters), view: viewListedEndpoint };
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
function viewListedEndpoint(endpoint: ListedEndpoint): WebhookEndpointItem {
  const { pending, failed } = endpoint;
  return { ...viewEndpoint(endpoint), pending, failed };
}
