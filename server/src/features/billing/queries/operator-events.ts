/** Statements about payment events for operators: the list, its search, and what an event did. */
import { Type } from 'typebox';

import { condition, defineList, type Condition } from '#server/db/list.ts';
import {
  defineStatement,
  Nullable,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { parseStoredFact, type PurchaseFact } from '../facts.ts';
import { LISTED_COLUMNS, ListedEvent } from './event-list.ts';
import { IS_REAL, IS_UNMATCHED } from './events.ts';

/** The stored events, for operators. */
export const paymentEventList = defineList({
  name: 'billing_event_list_for_operators',
  row: ListedEvent,
  columns: LISTED_COLUMNS,
  from: 'billing_events',
  id: { sql: `(provider || '/' || event_id)`, type: 'text' },
  sorts: { received_at: { sql: 'received_at', type: 'timestamptz' } },
});

/**
 * Finds the events of a text by indexes: an event id, the ids of transactions, subscriptions and customers, or an address.
 * An array leads the planner to the primary key, whatever it expects to find.
 */
const SEARCH = `event_id = any (array(
  with given as (select ?::text as id, lower(?::text) as address),
  customer as (
    select customer_id, provider from billing_customers, given where lower(email) = given.address
    union select id, null from given
  ), purchase as (
    select id from given
    union select a.transaction_id from billing_aliases a join given on a.alias = given.id
    union select b.transaction_id from licenses l join given on lower(l.customer_email) = given.address
          join billing_licenses b on b.license_id = l.id
  )
  select id from given
  union all select p.event_id from purchase t join billing_payments p on p.transaction_id = t.id
  union all select s.event_id from purchase t join billing_subscriptions s on s.transaction_id = t.id
  union all select a.event_id from purchase t join billing_adjustments a on a.transaction_id = t.id
  union all select p.event_id from given g join billing_payments p on p.subscription_id = g.id
  union all select s.event_id from given g join billing_subscriptions s on s.subscription_id = g.id
  union all select p.event_id from customer c join billing_payments p
            on p.customer_id = c.customer_id and (c.provider is null or p.provider = c.provider)
  union all select s.event_id from customer c join billing_subscriptions s
            on s.customer_id = c.customer_id and (c.provider is null or s.provider = c.provider)
  union all select u.event_id from (
    select event_id, raw from billing_events
    where status in ('deferred', 'failed') and raw is not null order by received_at desc limit 500
  ) as u where position(? in lower(encode(u.raw, 'escape'))) > 0
))`;

/** A text that would be found in every body. */
const MIN_BODY_TEXT = 4;

/** The condition of a search. */
export function matchesSearch(search: string): Condition {
  const text = search.trim();
  const inBody = text.length >= MIN_BODY_TEXT ? text.toLowerCase() : '\u{1}';
  return condition(SEARCH, text, text, inBody);
}

/** The condition of the events of the purchases that created a license, or renewed it or its updates. */
export function isOfLicense(licenseId: string): Condition {
  return condition(
    `event_id = any (array(
      with recursive reached (kind, id, provider) as (
        select 'transaction', transaction_id, provider from (
          select transaction_id, provider from billing_licenses where license_id = ?::uuid
          union
          select transaction_id, provider from license_updates where license_id = ?::uuid and kind = 'renewal'
        ) as bought
        union
        select linked.kind, linked.id, reached.provider from reached cross join lateral (
          select 'subscription', p.subscription_id from billing_payments p
          where reached.kind = 'transaction' and p.transaction_id = reached.id and p.provider = reached.provider
          union all
          select 'subscription', s.subscription_id from billing_subscriptions s
          where reached.kind = 'transaction' and s.transaction_id = reached.id and s.provider = reached.provider
          union all
          select 'transaction', p.transaction_id from billing_payments p
          where reached.kind = 'subscription' and p.subscription_id = reached.id and p.provider = reached.provider
        ) as linked (kind, id) where linked.id is not null
      )
      select p.event_id from reached r join billing_payments p
        on r.kind = 'transaction' and p.transaction_id = r.id and p.provider = r.provider
      union all select a.event_id from reached r join billing_adjustments a
        on r.kind = 'transaction' and a.transaction_id = r.id and a.provider = r.provider
      union all select s.event_id from reached r join billing_subscriptions s
        on r.kind = 'subscription' and s.subscription_id = r.id and s.provider = r.provider
    ))`,
    licenseId,
    licenseId,
  );
}

const listFactsStatement = defineStatement(
  'billing_event_list_facts',
  Type.Object({ fact: Type.String() }),
  `select fact::text from billing_payments where event_id = $1 and provider = $2
   union all select fact::text from billing_subscriptions where event_id = $1 and provider = $2
   union all select fact::text from billing_adjustments where event_id = $1 and provider = $2`,
);

/** Lists the facts of an event in the ledgers. */
export async function listFacts(
  db: Queryable,
  provider: string,
  eventId: string,
): Promise<PurchaseFact[]> {
  const rows = await queryRows(db, listFactsStatement, [eventId, provider]);
  return rows.flatMap(({ fact }) => {
    const parsed = parseStoredFact(fact);
    return parsed.kind === 'repair' ? [] : [parsed];
  });
}

const countUnmatchedStatement = defineStatement(
  'billing_event_count_unmatched',
  Type.Object({ events: Type.Number() }),
  `select count(*) as events from (select from billing_events where ${IS_UNMATCHED} and ${IS_REAL} limit $1) as found`,
);

/** Counts the real payments that do not have all of their licenses, up to `limit`. */
export async function countUnmatchedEvents(db: Queryable, limit: number): Promise<number> {
  return (await queryRow(db, countUnmatchedStatement, [limit]))?.events ?? 0;
}

const listUnmatchedStatement = defineStatement(
  'billing_event_list_unmatched_of_provider',
  Type.Object({ eventId: Type.String() }),
  `select event_id as "eventId" from billing_events
   where ${IS_UNMATCHED} and provider = $1 and event_id > $2
   order by event_id limit $3`,
);

/** Lists the payments of a provider that need an operator, by id. @param after the last one of the page before */
export async function listUnmatchedOfProvider(
  db: Queryable,
  provider: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await queryRows(db, listUnmatchedStatement, [provider, after, limit]);
  return rows.map(({ eventId }) => eventId);
}

const findLastStatement = defineStatement(
  'billing_event_find_last_receipts',
  Type.Object({ provider: Type.String(), receivedAt: Nullable.Timestamp }),
  `select provider, (select max(received_at) from billing_events event where event.provider = wanted.provider) as "receivedAt"
   from unnest($1::text[]) as wanted (provider)`,
);

/** Returns when the last event of each provider was received; null: none was. */
export async function findLastReceipts(
  db: Queryable,
  providers: readonly string[],
): Promise<ReadonlyMap<string, Date | null>> {
  const rows = await queryRows(db, findLastStatement, [providers]);
  return new Map(rows.map(({ provider, receivedAt }) => [provider, receivedAt]));
}

// Skips from one type to the next in the index, since PostgreSQL reads all rows for a `distinct`.
const listTypesStatement = defineStatement(
  'billing_event_list_types',
  Type.Object({ type: Type.String() }),
  `with recursive found (type, number) as (
     (select type, 1 from billing_events order by type limit 1)
     union all
     select (select e.type from billing_events e where e.type > found.type order by e.type limit 1), number + 1
     from found where found.type is not null and number <= $1
   )
   select type from found where type is not null`,
);

/** Lists the stored types, at most `limit`. */
export async function listEventTypes(db: Queryable, limit: number): Promise<string[]> {
  return (await queryRows(db, listTypesStatement, [limit])).map(({ type }) => type);
}
