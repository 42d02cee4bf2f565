import { Type, type Static } from 'typebox';

import {
  Nullable,
  Timestamp,
  defineStatement,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

const NullableInteger = Type.Union([Type.Integer(), Type.Null()]);

const LoggedDelivery = Type.Object({
  messageId: Type.String(),
  type: Type.String(),
  licenseId: Type.String(),
  createdAt: Timestamp,
  endpointId: Type.String(),
  state: Type.Enum(['pending', 'delivered', 'failed']),
  attempts: Type.Integer(),
  nextAttemptAt: Nullable.Timestamp,
  lastAttemptAt: Nullable.Timestamp,
  lastStatus: NullableInteger,
  lastDurationMs: NullableInteger,
  lastError: Nullable.Text,
});

/** The delivery of a message to an endpoint. `lastStatus` is the HTTP status; null if there was no response. */
export type LoggedDelivery = Readonly<Static<typeof LoggedDelivery>>;

const listStatement = defineStatement(
  'webhook_delivery_list',
  LoggedDelivery,
  `select delivery.message_id as "messageId", delivery.type, message.license_id as "licenseId",
          delivery.created_at as "createdAt", delivery.endpoint_id as "endpointId", delivery.state, delivery.attempts,
          delivery.next_attempt_at as "nextAttemptAt", delivery.last_attempt_at as "lastAttemptAt",
          delivery.last_status as "lastStatus", delivery.last_duration_ms as "lastDurationMs",
          delivery.last_error as "lastError"
   from webhook_deliveries delivery
   join webhook_messages message on message.id = delivery.message_id
   where ($1::uuid is null or delivery.endpoint_id = $1) and (not $2 or delivery.last_error is not null)
   order by delivery.created_at desc, delivery.message_id || '/' || delivery.endpoint_id::text desc
   limit $3`,
);

interface DeliveryFilter {
  readonly endpointId: string | null;
  /** Only those whose last attempt failed, including those to be retried. */
  readonly failedOnly: boolean;
  readonly limit: number;
}

/** Lists deliveries, newest message first. */
export async function listDeliveries(
  db: Queryable,
  { endpointId, failedOnly, limit }: DeliveryFilter,
): Promise<LoggedDelivery[]> {
  return queryRows(db, listStatement, [endpointId, failedOnly, limit]);
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

/** Counts deliveries that exhausted their retries and can be replayed, up to `limit`. */
export async function countFailedDeliveries(db: Queryable, limit: number): Promise<number> {
  return (await queryRow(db, countFailedStatement, [limit]))?.failed ?? 0;
}

const countFailedSinceStatement = defineStatement(
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

/** Counts deliveries that exhausted their retries since a time, up to `limit`; not those to endpoints that an operator disabled. */
export async function countDeliveriesFailedSince(
  db: Queryable,
  since: Date,
  limit: number,
): Promise<number> {
  return (await queryRow(db, countFailedSinceStatement, [since, limit]))?.failed ?? 0;
}

const countDisabledStatement = defineStatement(
  'webhook_endpoint_count_disabled',
  Type.Object({ disabled: Type.Number() }),
  `select count(*) as disabled from webhook_endpoints where disabled_reason <> 'operator'`,
);

/** Counts the endpoints that were disabled because of failures. */
export async function countFailedEndpoints(db: Queryable): Promise<number> {
  return (await queryRow(db, countDisabledStatement))?.disabled ?? 0;
}
