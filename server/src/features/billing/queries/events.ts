import { Type, type Static } from 'typebox';

import {
  Bytes,
  Nullable,
  Timestamp,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';
import { toColumns } from '#server/db/to-columns.ts';

/** What became of an event that was kept. */
export type EventStatus = 'processed' | 'ignored' | 'deferred' | 'failed';

/** An event as it is kept. */
export interface StoredEvent {
  readonly eventId: string;
  readonly provider: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly receivedAt: Date;
  /** The body as it was signed. */
  readonly raw: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is written down of an event's fate. */
export interface EventOutcome {
  readonly eventId: string;
  readonly provider: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly status: EventStatus;
  readonly message: string | null;
  readonly nextAttemptAt: Date | null;
  /** How often it was tried, this time included; left out: as often as is written down. */
  readonly attempts?: number;
}

const insertStatement = defineStatement(
  'billing_event_insert',
  Type.Object({ event_id: Type.String(), provider: Type.String() }),
  `insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status)
   select event_id, provider, type, occurred_at, received_at, raw, headers, 'processed'
   from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bytea[], $7::jsonb[])
     as told (event_id, provider, type, occurred_at, received_at, raw, headers)
   order by event_id, provider
   on conflict (event_id, provider) do nothing
   returning event_id, provider`,
);

/** Keeps events as processed and gives those that were not kept before; of one that is there twice, one is kept. */
export async function insertEvents(
  db: Queryable,
  events: readonly StoredEvent[],
): Promise<readonly { readonly eventId: string; readonly provider: string }[]> {
  const rows = await queryRows(db, insertStatement, [
    ...toColumns(events, ['eventId', 'provider', 'type', 'occurredAt', 'receivedAt', 'raw']),
    events.map(({ headers }) => JSON.stringify(headers)),
  ]);
  return rows.map((row) => ({ eventId: row.event_id, provider: row.provider }));
}

const updateStatement = defineCommand(
  'billing_event_update_outcomes',
  `update billing_events as event
   set status = outcome.status, message = outcome.message, next_attempt_at = outcome.next_attempt_at,
       type = outcome.type, occurred_at = outcome.occurred_at,
       attempts = coalesce(outcome.attempts, event.attempts)
   from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::timestamptz[],
               $8::integer[])
     as outcome (event_id, provider, status, message, next_attempt_at, type, occurred_at, attempts)
   where event.event_id = outcome.event_id and event.provider = outcome.provider`,
);

/** Writes down what became of events that are kept. */
export async function updateEventOutcomes(
  db: Queryable,
  outcomes: readonly EventOutcome[],
): Promise<void> {
  await execute(db, updateStatement, [
    ...toColumns(outcomes, [
      'eventId',
      'provider',
      'status',
      'message',
      'nextAttemptAt',
      'type',
      'occurredAt',
    ]),
    outcomes.map(({ attempts }) => attempts ?? null),
  ]);
}

const EventRow = Type.Object({
  event_id: Type.String(),
  provider: Type.String(),
  type: Type.String(),
  occurred_at: Timestamp,
  received_at: Timestamp,
  raw: Type.Union([Bytes, Type.Null()]),
  headers: Type.Record(Type.String(), Type.String()),
  status: Type.String(),
  message: Nullable.Text,
  attempts: Type.Integer(),
  next_attempt_at: Nullable.Moment,
});

/** A stored event and its outcome. */
export interface EventRecord extends Omit<StoredEvent, 'raw'> {
  /** The body as it was signed; null once it was removed. */
  readonly raw: Buffer | null;
  readonly status: string;
  readonly message: string | null;
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
}

/** Which events are asked for; null: whatever they have there. */
export interface EventFilter {
  readonly eventId: string | null;
  readonly status: EventStatus | null;
  readonly provider: string | null;
  /** Received then or later. */
  readonly since: Date | null;
}

/** Where a page of events ends. */
type EventCursor = Pick<StoredEvent, 'receivedAt' | 'eventId'>;

const COLUMNS = Object.keys(EventRow.properties).join(', ');

const listStatement = defineStatement(
  'billing_event_list',
  EventRow,
  `select ${COLUMNS} from billing_events
   where ($1::text is null or event_id = $1)
     and ($2::text is null or status = $2)
     and ($3::text is null or provider = $3)
     and ($4::timestamptz is null or received_at >= $4)
     and ($5::timestamptz is null or (received_at, event_id) > ($5, $6))
   order by received_at, event_id, provider
   limit $7`,
);

/** A page of events, the oldest first. @param after where the page before ended; null: the first page */
export async function listEvents(
  db: Queryable,
  filter: EventFilter,
  after: EventCursor | null,
  limit: number,
): Promise<EventRecord[]> {
  const { eventId, status, provider, since } = filter;
  const cursor = [after?.receivedAt ?? null, after?.eventId ?? null];
  const parameters = [eventId, status, provider, since, ...cursor, limit];
  const rows = await queryRows(db, listStatement, parameters);
  return rows.map(fromRow);
}

const listDueStatement = defineStatement(
  'billing_event_list_due',
  EventRow,
  `select ${COLUMNS} from billing_events
   where status = 'deferred' and next_attempt_at <= $1
   order by next_attempt_at
   limit $2`,
);

/** Deferred events whose next try is due. */
export async function listDueEvents(
  db: Queryable,
  now: Date,
  limit: number,
): Promise<EventRecord[]> {
  return (await queryRows(db, listDueStatement, [now, limit])).map(fromRow);
}

const dismissStatement = defineCommand(
  'billing_event_dismiss',
  `update billing_events set status = 'ignored', message = $5, next_attempt_at = null
   where status in ('deferred', 'failed')
     and ($1::text is null or event_id = $1)
     and ($2::text is null or status = $2)
     and ($3::text is null or provider = $3)
     and ($4::timestamptz is null or received_at >= $4)`,
);

/** Lets nothing come of events that were not applied, and gives how many there were. */
export async function dismissUnappliedEvents(
  db: Queryable,
  { eventId, status, provider, since }: EventFilter,
  message: string,
): Promise<number> {
  return execute(db, dismissStatement, [eventId, status, provider, since, message]);
}

const countStatement = defineStatement(
  'billing_event_count_unfinished',
  Type.Object({ deferred: Type.Integer(), failed: Type.Integer() }),
  `select count(*) filter (where status = 'deferred')::integer as deferred,
          count(*) filter (where status = 'failed')::integer as failed
   from billing_events where status in ('deferred', 'failed')`,
);

/** Events that were not applied. */
export interface UnappliedEvents {
  /** To be tried again. */
  readonly deferred: number;
  /** Given up; nothing happens to them by itself. */
  readonly failed: number;
}

/** Counts the events that were not applied, from an index that holds no others. */
export async function countUnappliedEvents(db: Queryable): Promise<UnappliedEvents> {
  return (await queryRow(db, countStatement)) ?? { deferred: 0, failed: 0 };
}

function fromRow(row: Static<typeof EventRow>): EventRecord {
  return {
    eventId: row.event_id,
    provider: row.provider,
    type: row.type,
    occurredAt: row.occurred_at,
    receivedAt: row.received_at,
    raw: row.raw,
    headers: row.headers,
    status: row.status,
    message: row.message,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
  };
}
