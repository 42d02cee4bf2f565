import { Type, type Static } from 'typebox';

import {
  columnsOf,
  defineStatement,
  Nullable,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import { boundsOf, LONG_STATEMENT_MS } from './run-long.ts';

const StoredEventRow = Type.Object({
  eventId: Type.String(),
  receivedAt: Timestamp,
  installId: Type.String(),
  sessionId: Type.String(),
  name: Type.String(),
  occurredAt: Timestamp,
  clientOccurredAt: Nullable.Timestamp,
  appVersion: Type.String(),
  osVersion: Nullable.Text,
  props: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
});

export type StoredEventRecord = Readonly<Static<typeof StoredEventRow>>;

const findStatement = defineStatement(
  'event_find',
  StoredEventRow,
  `select ${columnsOf(StoredEventRow)} from events
   where received_at = (select received_at from event_ids where event_id = $1) and event_id = $1`,
);

/** Finds an event; null if it is not stored. Reads the rows near the time of its arrival. */
export async function findStoredEvent(
  db: Queryable,
  eventId: string,
): Promise<StoredEventRecord | null> {
  return queryRow(db, findStatement, [eventId]);
}

/** The place of an event in the order of arrival. */
export interface EventPosition {
  readonly receivedAt: Date;
  readonly eventId: string;
}

const newestStatement = defineStatement(
  'install_list_newest_events',
  StoredEventRow,
  `select ${columnsOf(StoredEventRow)} from events
   where received_at >= $2 and received_at < $3 and install_id = $1 and (received_at, event_id) < ($4, $5)
   order by received_at desc, event_id desc limit $6`,
);

/** Returns the newest events of an install on a day, before one of them. Reads the whole day if it has no index yet. */
export async function listNewestEvents(
  db: Queryable,
  installId: string,
  page: { readonly day: Day; readonly before: EventPosition; readonly limit: number },
): Promise<StoredEventRecord[]> {
  const { before, day, limit } = page;
  const parameters = [installId, ...boundsOf(day), before.receivedAt, before.eventId, limit];
  return queryRows(db, newestStatement, parameters, LONG_STATEMENT_MS);
}
