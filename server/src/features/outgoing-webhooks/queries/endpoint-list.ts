import { Type, type Static } from 'typebox';

import { condition, defineList, type Condition } from '#server/db/list.ts';
import { columnsOf } from '#server/db/statement.ts';

import { EndpointRow } from './endpoints.ts';

const ListedEndpoint = Type.Object({
  ...EndpointRow.properties,
  pending: Type.Integer(),
  failed: Type.Integer(),
});

/** An endpoint with the numbers of its pending and failed deliveries, which are counted up to a limit. */
export type ListedEndpoint = Readonly<Static<typeof ListedEndpoint>>;

const MAX_COUNTED = 1_000;

const countOf = (state: 'pending' | 'failed'): string =>
  `(select count(*) from (select from webhook_deliveries
    where endpoint_id = endpoint.id and state = '${state}' limit ${MAX_COUNTED}) as found) as ${state}`;

/** Few rows: neither the orders nor the search need an index. */
export const endpointList = defineList({
  name: 'webhook_endpoint_list_page',
  row: ListedEndpoint,
  columns: `${columnsOf(EndpointRow, 'endpoint')}, ${countOf('pending')}, ${countOf('failed')}`,
  from: 'webhook_endpoints endpoint',
  id: { sql: 'endpoint.id', type: 'uuid' },
  sorts: {
    created_at: { sql: 'endpoint.created_at', type: 'timestamptz' },
    url: { sql: 'endpoint.url', type: 'text' },
  },
});

/** The endpoint with an id. */
export function isEndpoint(id: string): Condition {
  return condition('endpoint.id = ?::uuid', id);
}

/** The endpoints that a text is part of, by URL or description, in upper or lower case. */
export function matchesText(text: string): Condition {
  return condition(
    `strpos(lower(concat_ws(' ', endpoint.url, endpoint.description)), lower(?)) > 0`,
    text,
  );
}

/** The endpoints in a state, as `viewEndpoint` computes it. */
export function isInState(state: string): Condition {
  return condition(
    `? = case when endpoint.disabled_at is not null then 'disabled'
              when endpoint.failing_since is null then 'active' else 'failing' end`,
    state,
  );
}
