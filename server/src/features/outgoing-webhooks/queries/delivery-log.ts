import { Type } from 'typebox';

import {
  defineStatement,
  Nullable,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

const State = Type.Union([
  Type.Literal('pending'),
  Type.Literal('delivered'),
  Type.Literal('failed'),
]);

const NullableInteger = Type.Union([Type.Integer(), Type.Null()]);

/** A message and what became of it at one endpoint. */
export interface LoggedDelivery {
  readonly messageId: string;
  readonly type: string;
  readonly licenseId: string;
  readonly createdAt: Date;
  readonly endpointId: string;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly lastAttemptAt: Date | null;
  /** Of HTTP; null when there was no answer. */
  readonly lastStatus: number | null;
  readonly lastDurationMs: number | null;
  readonly lastError: string | null;
}

const listStatement = defineStatement(
  'webhook_delivery_list',
  Type.Object({
    message_id: Type.String(),
    type: Type.String(),
    license_id: Type.String(),
    created_at: Timestamp,
    endpoint_id: Type.String(),
    state: State,
    attempts: Type.Integer(),
    next_attempt_at: Nullable.Moment,
    last_attempt_at: Nullable.Moment,
    last_status: NullableInteger,
    last_duration_ms: NullableInteger,
    last_error: Nullable.Text,
  }),
  `select delivery.message_id, message.type, message.license_id, message.created_at, delivery.endpoint_id,
          delivery.state, delivery.attempts, delivery.next_attempt_at, delivery.last_attempt_at,
          delivery.last_status, delivery.last_duration_ms, delivery.last_error
   from webhook_messages message
   join webhook_deliveries delivery on delivery.message_id = message.id
   where ($1::uuid is null or delivery.endpoint_id = $1) and (not $2 or delivery.last_error is not null)
   order by message.created_at desc, message.id desc, delivery.endpoint_id
   limit $3`,
);

/** Which deliveries are asked for. */
interface DeliveryFilter {
  readonly endpointId: string | null;
  /** Only those whose last attempt failed, whether or not others follow. */
  readonly failedOnly: boolean;
  readonly limit: number;
}

/** What endpoints were told, the newest first. */
export async function listDeliveries(
  db: Queryable,
  filter: DeliveryFilter,
): Promise<LoggedDelivery[]> {
  const { endpointId, failedOnly, limit } = filter;
  const rows = await queryRows(db, listStatement, [endpointId, failedOnly, limit]);
  return rows.map((row) => ({
    messageId: row.message_id,
    type: row.type,
    licenseId: row.license_id,
    createdAt: row.created_at,
    endpointId: row.endpoint_id,
    state: row.state,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    lastAttemptAt: row.last_attempt_at,
    lastStatus: row.last_status,
    lastDurationMs: row.last_duration_ms,
    lastError: row.last_error,
  }));
}

const countFailedStatement = defineStatement(
  'webhook_delivery_count_failed',
  Type.Object({ failed: Type.Number() }),
  `select count(*) as failed
   from (
     select from webhook_deliveries delivery
     join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
     where delivery.state = 'failed'
     limit $1
   ) counted`,
);

/** How many deliveries failed for good and can be replayed, counted as far as `most`. */
export async function countFailedDeliveries(db: Queryable, most: number): Promise<number> {
  return (await queryRow(db, countFailedStatement, [most]))?.failed ?? 0;
}

const countDeliveriesStatement = defineStatement(
  'webhook_delivery_count_failed_since',
  Type.Object({ failed: Type.Number() }),
  `select count(*) as failed
   from (
     select from webhook_deliveries delivery
     join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
     where delivery.state = 'failed' and delivery.last_attempt_at >= $1
       and endpoint.disabled_reason is distinct from 'operator'
     limit $2
   ) counted`,
);

/** How many deliveries failed for good since a moment, to endpoints that are to be told, counted as far as `most`. */
export async function countDeliveriesFailedSince(
  db: Queryable,
  since: Date,
  most: number,
): Promise<number> {
  return (await queryRow(db, countDeliveriesStatement, [since, most]))?.failed ?? 0;
}

const countEndpointsStatement = defineStatement(
  'webhook_endpoint_count_disabled',
  Type.Object({ disabled: Type.Number() }),
  `select count(*) as disabled from webhook_endpoints where disabled_reason <> 'operator'`,
);

/** How many endpoints were disabled for failing, and not by an operator. */
export async function countFailedEndpoints(db: Queryable): Promise<number> {
  return (await queryRow(db, countEndpointsStatement))?.disabled ?? 0;
}
