import { Type } from 'typebox';

import {
  defineStatement,
  Nullable,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { EventFilter, EventRecord } from './events.ts';

/** An event with its fate, without its body, which is the buyer's. */
export type ListedEvent = Omit<EventRecord, 'raw' | 'headers'>;

const listStatement = defineStatement(
  'billing_event_list_newest',
  Type.Object({
    event_id: Type.String(),
    provider: Type.String(),
    type: Type.String(),
    occurred_at: Timestamp,
    received_at: Timestamp,
    status: Type.String(),
    message: Nullable.Text,
    attempts: Type.Integer(),
    next_attempt_at: Nullable.Moment,
  }),
  `select event_id, provider, type, occurred_at, received_at, status, message, attempts, next_attempt_at
   from billing_events
   where ($1::text is null or event_id = $1)
     and ($2::text is null or status = $2)
     and ($3::text is null or provider = $3)
     and ($4::timestamptz is null or received_at >= $4)
   order by received_at desc, event_id desc, provider desc
   limit $5`,
);

/** The events that came last, at most `limit`, the oldest of them first. */
export async function listNewestEvents(
  db: Queryable,
  { eventId, status, provider, since }: EventFilter,
  limit: number,
): Promise<ListedEvent[]> {
  const rows = await queryRows(db, listStatement, [eventId, status, provider, since, limit]);
  return rows.toReversed().map((row) => ({
    eventId: row.event_id,
    provider: row.provider,
    type: row.type,
    occurredAt: row.occurred_at,
    receivedAt: row.received_at,
    status: row.status,
    message: row.message,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
  }));
}
