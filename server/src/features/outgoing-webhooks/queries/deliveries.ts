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

/** A delivery that this process has taken upon itself, with all that it needs to be sent. */
export interface ClaimedDelivery {
  readonly messageId: string;
  readonly payload: string;
  /** This attempt included. */
  readonly attempts: number;
  readonly endpointId: string;
  readonly url: string;
  readonly secretSealed: Buffer;
  readonly previousSecretSealed: Buffer | null;
  readonly previousSecretUntil: Date | null;
}

const claimStatement = defineStatement(
  'webhook_delivery_claim',
  Type.Object({
    message_id: Type.String(),
    payload: Type.String(),
    attempts: Type.Integer(),
    endpoint_id: Type.String(),
    url: Type.String(),
    secret_sealed: Bytes,
    previous_secret_sealed: Type.Union([Bytes, Type.Null()]),
    previous_secret_until: Nullable.Moment,
  }),
  `with due as (
     select delivery.message_id, delivery.endpoint_id
     from webhook_endpoints endpoint
     left join unnest($4::uuid[], $5::integer[]) as busy (endpoint_id, count) on busy.endpoint_id = endpoint.id
     cross join lateral (
       select message_id, endpoint_id
       from webhook_deliveries
       where endpoint_id = endpoint.id and state = 'pending' and next_attempt_at <= $1
       order by next_attempt_at, message_id
       limit greatest($3 - coalesce(busy.count, 0), 0)
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
   returning delivery.message_id, message.payload, delivery.attempts, endpoint.id as endpoint_id, endpoint.url,
             endpoint.secret_sealed, endpoint.previous_secret_sealed, endpoint.previous_secret_until`,
);

interface Claim {
  readonly now: Date;
  /** Whoever takes a delivery and is not heard of until then is gone, and another may take it. */
  readonly lostAt: Date;
  readonly maxPerEndpoint: number;
  /** Deliveries under way by endpoint; they count towards its share. */
  readonly busy: ReadonlyMap<string, number>;
}

/** Takes deliveries that are due, a bounded number for each endpoint; what another process takes is passed over. */
export async function claimDeliveries(db: Queryable, claim: Claim): Promise<ClaimedDelivery[]> {
  const rows = await queryRows(db, claimStatement, [
    claim.now,
    claim.lostAt,
    claim.maxPerEndpoint,
    [...claim.busy.keys()],
    [...claim.busy.values()],
  ]);
  return rows.map((row) => ({
    messageId: row.message_id,
    payload: row.payload,
    attempts: row.attempts,
    endpointId: row.endpoint_id,
    url: row.url,
    secretSealed: row.secret_sealed,
    previousSecretSealed: row.previous_secret_sealed,
    previousSecretUntil: row.previous_secret_until,
  }));
}

/** What became of one attempt. */
export interface AttemptResult {
  readonly state: 'pending' | 'delivered' | 'failed';
  /** Null unless pending. */
  readonly nextAttemptAt: Date | null;
  readonly status: number | null;
  readonly durationMs: number;
  readonly error: string | null;
}

const recordStatement = defineCommand(
  'webhook_delivery_record',
  `update webhook_deliveries
   set state = $4, next_attempt_at = $5, last_status = $6, last_duration_ms = $7, last_error = $8
   where message_id = $1 and endpoint_id = $2 and attempts = $3 and state = 'pending'`,
);

/** Writes down what became of an attempt; a later one, begun because this one was taken for lost, is left alone. */
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
  ]);
}

/** How many deliveries to an endpoint are to be made anew. */
export interface ReplayedDeliveries {
  readonly endpointId: string;
  readonly count: number;
}

const ReplayedRow = Type.Object({ endpoint_id: Type.String(), count: Type.Integer() });

const replayMessageStatement = defineStatement(
  'webhook_delivery_replay_message',
  ReplayedRow,
  `with replayed as (
     insert into webhook_deliveries (message_id, endpoint_id, state, next_attempt_at)
     select message.id, endpoint.id, 'pending', $3::timestamptz
     from webhook_messages message
     join webhook_endpoints endpoint
       on endpoint.id = $2
       or ($2 is null and exists (select from webhook_deliveries told
                                  where told.message_id = message.id and told.endpoint_id = endpoint.id))
     where message.id = $1
     on conflict (message_id, endpoint_id) do update set state = 'pending', attempts = 0, next_attempt_at = $3
     returning endpoint_id
   )
   select endpoint_id, count(*)::integer as count from replayed group by endpoint_id`,
);

/**
 * Lets a message be delivered anew.
 * @param endpointId to this endpoint, also when it was not told before; null: to all that were
 * @returns what there is to make, endpoint by endpoint
 */
export async function replayMessage(
  db: Queryable,
  messageId: string,
  endpointId: string | null,
  now: Date,
): Promise<ReplayedDeliveries[]> {
  return (await queryRows(db, replayMessageStatement, [messageId, endpointId, now])).map(
    toReplayedDeliveries,
  );
}

const replayFailedStatement = defineStatement(
  'webhook_delivery_replay_failed',
  ReplayedRow,
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
   select endpoint_id, count(*)::integer as count from replayed group by endpoint_id`,
);

/**
 * Lets deliveries that failed for good be made anew, of messages since a moment, at most `limit`.
 * @returns what there is to make, endpoint by endpoint
 */
export async function replayFailed(
  db: Queryable,
  since: Date,
  endpointId: string | null,
  now: Date,
  limit: number,
): Promise<ReplayedDeliveries[]> {
  const parameters = [since, endpointId, now, limit];
  return (await queryRows(db, replayFailedStatement, parameters)).map(toReplayedDeliveries);
}

function toReplayedDeliveries(row: Static<typeof ReplayedRow>): ReplayedDeliveries {
  return { endpointId: row.endpoint_id, count: row.count };
}
