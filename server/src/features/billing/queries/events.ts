import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Parameter,
  type Queryable,
  toColumns,
} from '#server/db/statement.ts';

import type { BillingProvider, EventHeader, EventKey } from '../facts.ts';
import { ATTENTION_PREFIX, DISMISSED_PREFIX, UNMATCHED_PREFIX } from '../rules/event-state.ts';

/** The outcome of a stored event. */
export type EventStatus = 'processed' | 'ignored' | 'deferred' | 'failed';

/** Selects events; null matches all. */
export interface EventFilter {
  readonly eventId: string | null;
  readonly status: EventStatus | null;
  readonly provider: string | null;
  /** Received at this time or later. */
  readonly since: Date | null;
  /** Received before this time. */
  readonly until?: Date | null;
  readonly type?: string | null;
  /** Only payments that need an operator. */
  readonly unmatchedOnly?: boolean;
}

const IS_ATTENTION_MESSAGE = `(message like '${UNMATCHED_PREFIX}%' or message like '${ATTENTION_PREFIX}%')`;

/** The condition of a payment that does not have all of its licenses; their indexes have the same one. */
export const IS_UNMATCHED = `status in ('processed', 'ignored') and ${IS_ATTENTION_MESSAGE}`;

/** The condition of an event that is not one of a provider's test mode. */
export const IS_REAL = `provider not like '%:test'`;

/** The condition of an event that an operator dismissed; their index has the same one. */
export const IS_DISMISSED = `status = 'ignored' and message like '${DISMISSED_PREFIX}%'`;

/** The condition of a filter, which is given as the first seven parameters. */
export const MATCHES_FILTER = `($1::text is null or event_id = $1)
     and ($2::text is null or status = $2)
     and ($3::text is null or provider = $3)
     and ($4::timestamptz is null or received_at >= $4)
     and ($5::timestamptz is null or received_at < $5)
     and ($6::text is null or type = $6)
     and (not $7::boolean or (${IS_UNMATCHED}))`;

/** Returns the parameters of {@link MATCHES_FILTER}. */
export function toFilterParameters(filter: EventFilter): Parameter[] {
  const { eventId, status, provider, since, until, type, unmatchedOnly } = filter;
  return [eventId, status, provider, since, until ?? null, type ?? null, unmatchedOnly === true];
}

/** The stored delivery of an event. */
export interface StoredDelivery {
  readonly receivedAt: Date;
  /** The body as signed. */
  readonly raw: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** An event with its delivery. */
export type StoredEvent = EventHeader & StoredDelivery;

/** The result of applying a stored event. */
export interface EventOutcome extends EventHeader {
  readonly status: EventStatus;
  readonly message: string | null;
  readonly nextAttemptAt: Date | null;
  /** Including this attempt; undefined leaves the stored number unchanged. */
  readonly attempts?: number;
}

const insertStatement = defineStatement(
  'billing_event_insert',
  Type.Object({ position: Type.Integer() }),
  `with incoming as (
     select *
     from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bytea[], $7::jsonb[])
       with ordinality as event (event_id, provider, type, occurred_at, received_at, raw, headers, position)
   ), inserted as (
     insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status)
     select event_id, provider, type, occurred_at, received_at, raw, headers, 'processed'
     from incoming
     order by event_id, provider, position
     on conflict (event_id, provider) do nothing
     returning event_id, provider
   )
   select min(position)::integer as position
   from inserted join incoming using (event_id, provider)
   group by event_id, provider`,
);

/**
 * Stores events as processed, except those that are already stored; of two with the same key the first one is stored.
 * @returns for each event whether it was stored
 */
export async function insertEvents(
  db: Queryable,
  events: readonly StoredEvent[],
): Promise<boolean[]> {
  const rows = await queryRows(db, insertStatement, [
    ...toColumns(events, ['eventId', 'provider', 'type', 'occurredAt', 'receivedAt', 'raw']),
    events.map(({ headers }) => JSON.stringify(headers)),
  ]);
  const positions = new Set(rows.map(({ position }) => position));
  return events.map((_, index) => positions.has(index + 1));
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

/** Records the outcomes of stored events. */
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

// The partial index contains only the few events that need an operator.
const clearAttentionStatement = defineCommand(
  'billing_event_clear_attention',
  `update billing_events as event set status = 'processed', message = null
   from unnest($1::text[], $2::text[]) as input (event_id, provider)
   where event.event_id = input.event_id and event.provider = input.provider
     and event.status in ('processed', 'ignored')
     and (event.message like '${UNMATCHED_PREFIX}%' or event.message like '${ATTENTION_PREFIX}%')`,
);

/** Sets stored events to processed whose payments have all of their licenses by now. */
export async function clearAttention(db: Queryable, events: readonly EventKey[]): Promise<void> {
  await execute(db, clearAttentionStatement, toColumns(events, ['eventId', 'provider']));
}

const listAttentionStatement = defineStatement(
  'billing_event_list_attention',
  Type.Object({ eventId: Type.String(), provider: Type.Unsafe<BillingProvider>(Type.String()) }),
  `select event_id, provider from billing_events where ${IS_UNMATCHED} order by event_id, provider limit $1`,
);

/** Lists the events of payments that need an operator, at most `limit`, from an index that contains no others. */
export async function listAttentionKeys(db: Queryable, limit: number): Promise<EventKey[]> {
  return queryRows(db, listAttentionStatement, [limit]);
}

const requestAttentionStatement = defineCommand(
  'billing_event_request_attention',
  `update billing_events as event set message = input.message
   from unnest($1::text[], $2::text[], $3::text[]) as input (event_id, provider, message)
   where event.event_id = input.event_id and event.provider = input.provider
     and event.status in ('processed', 'ignored') and event.message is distinct from input.message
     and (event.message is null or event.message like '${UNMATCHED_PREFIX}%' or event.message like '${ATTENTION_PREFIX}%')`,
);

/** Records why the payments of stored events need an operator. Dismissed events stay dismissed. */
export async function requestAttention(
  db: Queryable,
  events: readonly (EventKey & { readonly message: string })[],
): Promise<void> {
  await execute(
    db,
    requestAttentionStatement,
    toColumns(events, ['eventId', 'provider', 'message']),
  );
}

const dismissStatement = defineCommand(
  'billing_event_dismiss',
  `update billing_events set status = 'ignored', message = $8, next_attempt_at = null
   where (status in ('deferred', 'failed') or ($1::text is not null and ${IS_UNMATCHED})) and ${MATCHES_FILTER}`,
);

/**
 * Sets deferred and failed events to ignored and returns their number. A payment that needs an operator is dismissed only by its
 * id.
 */
export async function dismissUnappliedEvents(
  db: Queryable,
  filter: EventFilter,
  message: string,
): Promise<number> {
  return execute(db, dismissStatement, [...toFilterParameters(filter), message]);
}

const countStatement = defineStatement(
  'billing_event_count_unapplied',
  Type.Object({ deferred: Type.Integer(), failed: Type.Integer() }),
  `select count(*) filter (where status = 'deferred')::integer as deferred,
          count(*) filter (where status = 'failed')::integer as failed
   from billing_events where status in ('deferred', 'failed') and ${IS_REAL}`,
);

/** The number of real events that were not applied. */
export interface UnappliedEvents {
  /** Retried automatically. */
  readonly deferred: number;
  /** Waiting for an operator. */
  readonly failed: number;
}

/** Counts the events that were not applied, from an index that contains no others. */
export async function countUnappliedEvents(db: Queryable): Promise<UnappliedEvents> {
  return (await queryRow(db, countStatement)) ?? { deferred: 0, failed: 0 };
}

const removeBodiesStatement = defineCommand(
  'billing_event_remove_old_bodies',
  `update billing_events as event
   set raw = null, raw_removed_at = $2
   from (
     select event_id, provider from billing_events
     where raw is not null and (status in ('processed', 'ignored') or type = 'unreadable') and received_at < $1
     order by received_at
     limit $3
     for update skip locked
   ) as old
   where event.event_id = old.event_id and event.provider = old.provider`,
);

/**
 * Removes the bodies of processed, ignored and unreadable events received before a time, oldest first.
 * @returns how many, at most `limit`
 */
export async function removeEventBodies(
  db: Queryable,
  receivedBefore: Date,
  now: Date,
  limit: number,
): Promise<number> {
  return execute(db, removeBodiesStatement, [receivedBefore, now, limit]);
}

const countOldBodiesStatement = defineStatement(
  'billing_event_count_old_bodies',
  Type.Object({ bodies: Type.Number() }),
  `select count(*) as bodies from (
     select from billing_events
     where raw is not null and (status in ('processed', 'ignored') or type = 'unreadable') and received_at < $1
     limit $2
   ) as old`,
);

/** Counts the bodies that `removeEventBodies` would remove, up to `limit`. */
export async function countOldEventBodies(
  db: Queryable,
  receivedBefore: Date,
  limit: number,
): Promise<number> {
  return (await queryRow(db, countOldBodiesStatement, [receivedBefore, limit]))?.bodies ?? 0;
}
