import { Type, type Static } from 'typebox';

import {
  Bytes,
  defineStatement,
  Nullable,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { BillingProvider } from '../facts.ts';
import { MATCHES_FILTER, toFilterParameters, type EventFilter } from './events.ts';

export const ListedEvent = Type.Object({
  eventId: Type.String(),
  provider: Type.Unsafe<BillingProvider>(Type.String()),
  type: Type.String(),
  occurredAt: Timestamp,
  receivedAt: Timestamp,
  status: Type.Enum(['processed', 'ignored', 'deferred', 'failed']),
  message: Nullable.Text,
  attempts: Type.Integer(),
  nextAttemptAt: Nullable.Timestamp,
});

/** A stored event and its outcome, without the body, which contains personal data. */
export type ListedEvent = Readonly<Static<typeof ListedEvent>>;

export const LISTED_COLUMNS = `event_id as "eventId", provider, type, occurred_at as "occurredAt", received_at as "receivedAt",
   status, message, attempts, next_attempt_at as "nextAttemptAt"`;

const EventRecord = Type.Object({
  ...ListedEvent.properties,
  raw: Type.Union([Bytes, Type.Null()]),
  headers: Type.Record(Type.String(), Type.String()),
});

/** A stored event and its outcome. `raw` is the body as signed; null once it was removed. */
export type EventRecord = Readonly<Static<typeof EventRecord>>;

const StoredEventRecord = Type.Object({
  ...EventRecord.properties,
  rawRemovedAt: Nullable.Timestamp,
});

/** A stored event, and when its body was removed. */
export type StoredEventRecord = Readonly<Static<typeof StoredEventRecord>>;

const listStatement = defineStatement(
  'billing_event_list',
  EventRecord,
  `select ${LISTED_COLUMNS}, raw, headers from billing_events
   where ${MATCHES_FILTER}
     and ($8::timestamptz is null or (received_at, provider || '/' || event_id) > ($8, $9))
   order by received_at, provider || '/' || event_id
   limit $10`,
);

/**
 * Lists a page of events, oldest first.
 * @param after the last event of the previous page; null for the first page
 */
export async function listEvents(
  db: Queryable,
  filter: EventFilter,
  after: EventPosition | null,
  limit: number,
): Promise<EventRecord[]> {
  const cursor = after === null ? [null, null] : [after.receivedAt, keyOf(after)];
  return queryRows(db, listStatement, [...toFilterParameters(filter), ...cursor, limit]);
}

/** The place of an event in the order of arrival. */
export type EventPosition = Pick<EventRecord, 'receivedAt' | 'eventId'> & {
  readonly provider: string;
};

function keyOf({ provider, eventId }: EventPosition): string {
  return `${provider}/${eventId}`;
}

const listDueStatement = defineStatement(
  'billing_event_list_due',
  EventRecord,
  `select ${LISTED_COLUMNS}, raw, headers from billing_events
   where status = 'deferred' and next_attempt_at <= $1
   order by next_attempt_at
   limit $2`,
);

/** Returns the event of a provider with an id, or null. */
export async function findEvent(
  db: Queryable,
  provider: string,
  eventId: string,
): Promise<StoredEventRecord | null> {
  return queryRow(db, findStatement, [eventId, provider]);
}

const findStatement = defineStatement(
  'billing_event_find',
  StoredEventRecord,
  `select ${LISTED_COLUMNS}, raw, headers, raw_removed_at as "rawRemovedAt" from billing_events
   where event_id = $1 and provider = $2`,
);

/** Lists deferred events whose next attempt is due. */
export async function listDueEvents(
  db: Queryable,
  now: Date,
  limit: number,
): Promise<EventRecord[]> {
  return queryRows(db, listDueStatement, [now, limit]);
}
