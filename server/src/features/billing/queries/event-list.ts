import { Type, type Static } from 'typebox';

import {
  Bytes,
  defineStatement,
  Nullable,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { BillingProvider } from '../facts.ts';
import { MATCHES_FILTER, type EventFilter } from './events.ts';

const ListedEvent = Type.Object({
  eventId: Type.String(),
  provider: Type.Unsafe<BillingProvider>(Type.String()),
  type: Type.String(),
  occurredAt: Timestamp,
  receivedAt: Timestamp,
  status: Type.String(),
  message: Nullable.Text,
  attempts: Type.Integer(),
  nextAttemptAt: Nullable.Timestamp,
});

/** A stored event and its outcome, without the body, which contains personal data. */
export type ListedEvent = Readonly<Static<typeof ListedEvent>>;

const LISTED_COLUMNS = `event_id as "eventId", provider, type, occurred_at as "occurredAt", received_at as "receivedAt",
   status, message, attempts, next_attempt_at as "nextAttemptAt"`;

const EventRecord = Type.Object({
  ...ListedEvent.properties,
  raw: Type.Union([Bytes, Type.Null()]),
  headers: Type.Record(Type.String(), Type.String()),
});

/** A stored event and its outcome. `raw` is the body as signed; null once it was removed. */
export type EventRecord = Readonly<Static<typeof EventRecord>>;

const listStatement = defineStatement(
  'billing_event_list',
  EventRecord,
  `select ${LISTED_COLUMNS}, raw, headers from billing_events
   where ${MATCHES_FILTER}
     and ($5::timestamptz is null or (received_at, event_id) > ($5, $6))
   order by received_at, event_id, provider
   limit $7`,
);

/**
 * Lists a page of events, oldest first.
 * @param after the last event of the previous page; null for the first page
 */
export async function listEvents(
  db: Queryable,
  { eventId, status, provider, since }: EventFilter,
  after: Pick<EventRecord, 'receivedAt' | 'eventId'> | null,
  limit: number,
): Promise<EventRecord[]> {
  const cursor = [after?.receivedAt ?? null, after?.eventId ?? null];
  return queryRows(db, listStatement, [eventId, status, provider, since, ...cursor, limit]);
}

const listDueStatement = defineStatement(
  'billing_event_list_due',
  EventRecord,
  `select ${LISTED_COLUMNS}, raw, headers from billing_events
   where status = 'deferred' and next_attempt_at <= $1
   order by next_attempt_at
   limit $2`,
);

/** Lists deferred events whose next attempt is due. */
export async function listDueEvents(
  db: Queryable,
  now: Date,
  limit: number,
): Promise<EventRecord[]> {
  return queryRows(db, listDueStatement, [now, limit]);
}

const listNewestStatement = defineStatement(
  'billing_event_list_newest',
  ListedEvent,
  `select ${LISTED_COLUMNS} from billing_events
   where ${MATCHES_FILTER}
   order by received_at desc, event_id desc, provider desc
   limit $5`,
);

/** Lists the newest events, at most `limit`, oldest first. */
export async function listNewestEvents(
  db: Queryable,
  { eventId, status, provider, since }: EventFilter,
  limit: number,
): Promise<ListedEvent[]> {
  const rows = await queryRows(db, listNewestStatement, [eventId, status, provider, since, limit]);
  return rows.toReversed();
}
