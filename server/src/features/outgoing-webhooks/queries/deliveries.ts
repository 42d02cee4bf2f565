import { Type, type Static } from 'typebox';

import {
  Bytes,
  Nullable,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

const ClaimedDelivery = Type.Object({
  messageId: Type.String(),
  payload: Type.String(),
  attempts: Type.Integer(),
  endpointId: Type.String(),
  url: Type.String(),
  secretSealed: Bytes,
  previousSecretSealed: Type.Union([Bytes, Type.Null()]),
  previousSecretUntil: Nullable.Timestamp,
});

/** A delivery claimed by this process, with all data to send it. `attempts` includes the current one. */
export type ClaimedDelivery = Readonly<Static<typeof ClaimedDelivery>>;

const claimStatement = defineStatement(
  'webhook_delivery_claim',
  ClaimedDelivery,
  `with due as (
     select delivery.message_id, delivery.endpoint_id
     from webhook_endpoints endpoint
     left join unnest($4::uuid[], $5::integer[]) as in_progress (endpoint_id, count) on in_progress.endpoint_id = endpoint.id
     cross join lateral (
       select message_id, endpoint_id
       from webhook_deliveries
       where endpoint_id = endpoint.id and state = 'pending' and next_attempt_at <= $1
       order by next_attempt_at, message_id
       limit greatest($3 - coalesce(in_progress.count, 0), 0)
       for update skip locked
     ) delivery
     where endpoint.disabled_at is null
   )
   update webhook_deliveries delivery
   set attempts = delivery.attempts + 1, last_attempt_at = $1, next_attempt_at = $2
   from due
   join webhook_messages message on message.id = due.message_id
   join webhook_endpoints endpoint on endpoint.id = due.endpoint_id
   where delivery.message_id = due.message_id and delivery.endpoint_id = due.endpoint_id
   returning delivery.message_id as "messageId", message.payload, delivery.attempts, endpoint.id as "endpointId",
             endpoint.url, endpoint.secret_sealed as "secretSealed",
             endpoint.previous_secret_sealed as "previousSecretSealed",
             endpoint.previous_secret_until as "previousSecretUntil"`,
);

interface Claim {
  readonly now: Date;
  /** Until when no other process may claim the deliveries. */
  readonly leasedUntil: Date;
  readonly maxPerEndpoint: number;
  /** The deliveries in progress by endpoint; they count towards `maxPerEndpoint`. */
  readonly inProgress: ReadonlyMap<string, number>;
}

/** Claims due deliveries, a limited number for each endpoint; skips those that another process is claiming. */
export async function claimDeliveries(
  db: Queryable,
  { now, leasedUntil, maxPerEndpoint, inProgress }: Claim,
): Promise<ClaimedDelivery[]> {
  const counts = [[...inProgress.keys()], [...inProgress.values()]];
  return queryRows(db, claimStatement, [now, leasedUntil, maxPerEndpoint, ...counts]);
}

/** The result of an attempt. */
export interface AttemptResult {
  readonly state: 'pending' | 'delivered' | 'failed';
  /** Null unless pending. */
  readonly nextAttemptAt: Date | null;
  readonly status: number | null;
  readonly durationMs: number;
  readonly error: string | null;
  /** The beginning of the response's body; null without one. */
  readonly answer: string | null;
}

const recordStatement = defineCommand(
  'webhook_delivery_record',
  `with recorded as (
     update webhook_deliveries
     set state = $4, next_attempt_at = $5, last_status = $6::integer, last_duration_ms = $7::integer, last_error = $8::text
     where message_id = $1 and endpoint_id = $2 and attempts = $3 and state = 'pending'
     returning message_id, endpoint_id, last_attempt_at
   )
   insert into webhook_attempts (message_id, endpoint_id, attempted_at, status, duration_ms, error, answer)
   select message_id, endpoint_id, last_attempt_at, $6::integer, $7::integer, $8::text, $9::text
   from recorded
   on conflict do nothing`,
);

/** Records the result of an attempt, unless its claim expired and another attempt was started. */
export async function recordAttempt(
  db: Queryable,
  delivery: Pick<ClaimedDelivery, 'messageId' | 'endpointId' | 'attempts'>,
  result: AttemptResult,
): Promise<void> {
  await execute(db, recordStatement, [
    delivery.messageId,
    delivery.endpointId,
    delivery.attempts,
    result.state,
    result.nextAttemptAt,
    result.status,
    result.durationMs,
    result.error,
    result.answer,
  ]);
}

const ReplayedDeliveries = Type.Object({ endpointId: Type.String(), count: Type.Integer() });

/** The number of deliveries to an endpoint that are sent again. */
export type ReplayedDeliveries = Readonly<Static<typeof ReplayedDeliveries>>;

const replayMessageStatement = defineStatement(
  'webhook_delivery_replay_message',
  ReplayedDeliveries,
  `with replayed as (
     insert into webhook_deliveries (message_id, endpoint_id, type, created_at, state, next_attempt_at)
     select message.id, endpoint.id, message.type, message.created_at, 'pending', $3::timestamptz
     from webhook_messages message
     join webhook_endpoints endpoint
       on endpoint.id = $2
       or ($2 is null and exists (select from webhook_deliveries earlier
                                  where earlier.message_id = message.id and earlier.endpoint_id = endpoint.id))
     where message.id = $1
     on conflict (message_id, endpoint_id) do update set state = 'pending', attempts = 0, next_attempt_at = $3
     returning endpoint_id
   )
   select endpoint_id as "endpointId", count(*)::integer as count from replayed group by endpoint_id`,
);

/**
 * Schedules a message to be delivered again.
 * @param endpointId an endpoint, even one without an earlier delivery; null for all that have one
 */
export async function replayMessage(
  db: Queryable,
  messageId: string,
  endpointId: string | null,
  now: Date,
): Promise<ReplayedDeliveries[]> {
  return queryRows(db, replayMessageStatement, [messageId, endpointId, now]);
}

const replayFailedStatement = defineStatement(
  'webhook_delivery_replay_failed',
  ReplayedDeliveries,
  `with replayed as (
     update webhook_deliveries delivery
     set state = 'pending', attempts = 0, next_attempt_at = $3
     from (
       select failed.message_id, failed.endpoint_id
       from webhook_deliveries failed
       join webhook_messages message on message.id = failed.message_id
       join webhook_endpoints endpoint on endpoint.id = failed.endpoint_id
       where failed.state = 'failed' and message.created_at >= $1
         and ($2::uuid is null or failed.endpoint_id = $2)
       limit $4
       for update of failed skip locked
     ) chosen
     where delivery.message_id = chosen.message_id and delivery.endpoint_id = chosen.endpoint_id
     returning delivery.endpoint_id
   )
   select endpoint_id as "endpointId", count(*)::integer as count from replayed group by endpoint_id`,
);

/** Schedules failed deliveries of messages since a time to be delivered again, at most `limit`. */
export async function replayFailed(
  db: Queryable,
  since: Date,
  endpointId: string | null,
  now: Date,
  limit: number,
): Promise<ReplayedDeliveries[]> {
  return queryRows(db, replayFailedStatement, [since, endpointId, now, limit]);
}
