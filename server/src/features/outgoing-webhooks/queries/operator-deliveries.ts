/** Statements about deliveries for operators: the list, one delivery with its attempts, and counts by endpoint. */
import { Type, type Static } from 'typebox';

import { condition, defineList, type Condition } from '#server/db/list.ts';
import {
  defineStatement,
  Nullable,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

const NullableInteger = Type.Union([Type.Integer(), Type.Null()]);

const ListedDelivery = Type.Object({
  messageId: Type.String(),
  endpointId: Type.String(),
  endpointUrl: Nullable.Text,
  type: Type.String(),
  licenseId: Type.String(),
  state: Type.Enum(['pending', 'retrying', 'delivered', 'failed']),
  attempts: Type.Integer(),
  createdAt: Timestamp,
  lastAttemptAt: Nullable.Timestamp,
  nextAttemptAt: Nullable.Timestamp,
  lastStatus: NullableInteger,
  lastDurationMs: NullableInteger,
  lastError: Nullable.Text,
});

/** A delivery for operators. `endpointUrl` is null if the endpoint was removed. */
export type ListedDelivery = Readonly<Static<typeof ListedDelivery>>;

const COLUMNS = `delivery.message_id as "messageId", delivery.endpoint_id as "endpointId", endpoint.url as "endpointUrl",
  delivery.type, message.license_id as "licenseId",
  case when delivery.state = 'pending' and delivery.last_error is not null then 'retrying' else delivery.state end as state,
  delivery.attempts, delivery.created_at as "createdAt", delivery.last_attempt_at as "lastAttemptAt",
  delivery.next_attempt_at as "nextAttemptAt", delivery.last_status as "lastStatus",
  delivery.last_duration_ms as "lastDurationMs", delivery.last_error as "lastError"`;

const SOURCE = `webhook_deliveries delivery
  join webhook_messages message on message.id = delivery.message_id
  left join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id`;

/** The deliveries of the last 30 days, for operators. */
export const deliveryList = defineList({
  name: 'webhook_delivery_list_for_operators',
  row: ListedDelivery,
  columns: COLUMNS,
  from: SOURCE,
  id: { sql: `(delivery.message_id || '/' || delivery.endpoint_id::text)`, type: 'text' },
  sorts: { created_at: { sql: 'delivery.created_at', type: 'timestamptz' } },
});

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The condition of the id of a message or of a license. */
export function matchesSearch(search: string): Condition {
  const text = search.trim();
  return UUID.test(text)
    ? condition('message.license_id = ?::uuid', text)
    : condition('delivery.message_id = ?', text);
}

const findStatement = defineStatement(
  'webhook_delivery_find',
  Type.Object({ ...ListedDelivery.properties, payload: Type.String() }),
  `select ${COLUMNS}, message.payload from ${SOURCE}
   where delivery.message_id = $1 and delivery.endpoint_id = $2`,
);

/** Returns a delivery with the body of its message, or null. */
export async function findDelivery(
  db: Queryable,
  messageId: string,
  endpointId: string,
): Promise<(ListedDelivery & { readonly payload: string }) | null> {
  return queryRow(db, findStatement, [messageId, endpointId]);
}

const Attempt = Type.Object({
  attemptedAt: Timestamp,
  status: NullableInteger,
  durationMs: Type.Integer(),
  error: Nullable.Text,
  answer: Nullable.Text,
});

const listAttemptsStatement = defineStatement(
  'webhook_attempt_list',
  Attempt,
  `select attempted_at as "attemptedAt", status, duration_ms as "durationMs", error, answer
   from webhook_attempts where message_id = $1 and endpoint_id = $2
   order by attempted_at desc limit $3`,
);

/** Lists the attempts of a delivery, newest first. */
export async function listAttempts(
  db: Queryable,
  messageId: string,
  endpointId: string,
  limit: number,
): Promise<Readonly<Static<typeof Attempt>>[]> {
  return queryRows(db, listAttemptsStatement, [messageId, endpointId, limit]);
}
