import { Type, type Static } from 'typebox';

import {
  Bytes,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
  toColumns,
} from '#server/db/statement.ts';

import type { EventKey } from '../facts.ts';

/** A page decompresses and searches many bodies. */
const LONG_STATEMENT_MS = 60_000;

const BodyOrNull = Type.Union([Bytes, Type.Null()]);

const SearchedEvent = Type.Object({
  eventId: Type.String(),
  provider: Type.String(),
  body: BodyOrNull,
});

/** An event, with its body when it may mention the person. */
type SearchedEvent = Readonly<Static<typeof SearchedEvent>>;

const searchStatement = defineStatement(
  'customer_search_bodies',
  SearchedEvent,
  `select event_id as "eventId", provider,
          case when exists (
            select from unnest($3::text[]) as wanted where position(wanted in searched.body) > 0
          ) then raw end as body
   from (
     select event_id, provider, raw from billing_events
     where (event_id, provider) > ($1, $2)
     order by event_id, provider
     limit $4
   ) as page
   cross join lateral (select lower(encode(raw, 'escape')) as body) as searched
   order by event_id, provider`,
);

/**
 * Searches a page of all payment events, in the order of their ids.
 * @param after the last one of the previous page
 */
export async function searchBodies(
  db: Queryable,
  searchTexts: readonly string[],
  after: EventKey,
  limit: number,
): Promise<SearchedEvent[]> {
  const parameters = [after.eventId, after.provider, searchTexts, limit];
  return queryRows(db, searchStatement, parameters, LONG_STATEMENT_MS);
}

const removeStatement = defineCommand(
  'customer_remove_bodies',
  `update billing_events as event
   set raw = null, raw_removed_at = $3,
       message = regexp_replace(message, '[^[:space:]<>"'']+@[^[:space:]<>"'']+', '[e-mail]', 'g')
   from unnest($1::text[], $2::text[]) as target (event_id, provider)
   where event.event_id = target.event_id and event.provider = target.provider
     and event.raw is not null and (event.status in ('processed', 'ignored') or event.type = 'unreadable')`,
);

/** Removes the bodies of events, except of those that were not applied; returns the number of removed bodies. */
export async function removeBodies(
  db: Queryable,
  events: readonly EventKey[],
  now: Date,
): Promise<number> {
  return execute(db, removeStatement, [...toColumns(events, ['eventId', 'provider']), now]);
}

const listStatement = defineStatement(
  'customer_list_events',
  Type.Object({
    status: Type.String(),
    body: BodyOrNull,
    row: Type.Record(Type.String(), Type.Unknown()),
  }),
  `select status, raw as body, to_jsonb(event) - 'raw' as row
   from billing_events as event
   join unnest($1::text[], $2::text[]) as target (event_id, provider)
     on event.event_id = target.event_id and event.provider = target.provider
   order by event.received_at, event.event_id`,
);

/** Lists events with their bodies; null for a removed body. */
export async function listEventsWithBodies(db: Queryable, events: readonly EventKey[]) {
  return queryRows(db, listStatement, toColumns(events, ['eventId', 'provider']));
}
