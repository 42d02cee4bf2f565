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

const DisabledReason = Type.Enum(['operator', 'gone', 'failing']);

/** Why an endpoint is disabled: by an operator, it answered 410 Gone, or it failed for days. */
type DisabledReason = Static<typeof DisabledReason>;

/** The columns of an endpoint. */
export const EndpointRow = Type.Object({
  id: Type.String(),
  url: Type.String(),
  description: Nullable.Text,
  eventTypes: Type.Array(Type.String()),
  secretSealed: Bytes,
  previousSecretSealed: Type.Union([Bytes, Type.Null()]),
  previousSecretUntil: Nullable.Timestamp,
  createdAt: Timestamp,
  failingSince: Nullable.Timestamp,
  disabledAt: Nullable.Timestamp,
  disabledReason: Type.Union([DisabledReason, Type.Null()]),
  version: Type.Integer(),
});

/**
 * A stored endpoint. No `eventTypes` means all types. `failingSince` is the first failure since the last success, or since
 * a long time without failures.
 */
export type EndpointRecord = Readonly<Static<typeof EndpointRow>>;

const listStatement = defineStatement(
  'webhook_endpoint_list',
  EndpointRow,
  `select id, url, description, event_types as "eventTypes", secret_sealed as "secretSealed",
          previous_secret_sealed as "previousSecretSealed", previous_secret_until as "previousSecretUntil",
          created_at as "createdAt", failing_since as "failingSince", disabled_at as "disabledAt",
          disabled_reason as "disabledReason", version
   from webhook_endpoints order by created_at, id limit $1`,
);

/** Lists the endpoints, oldest first. */
export async function listEndpointRecords(db: Queryable, limit: number): Promise<EndpointRecord[]> {
  return queryRows(db, listStatement, [limit]);
}

const listSubscribedStatement = defineStatement(
  'webhook_endpoint_list_subscribed',
  Type.Object({ event_types: Type.Array(Type.String()) }),
  'select event_types from webhook_endpoints where disabled_at is null limit 1000',
);

/** Lists the event types of each enabled endpoint; an empty list means all types. */
export async function listSubscribedTypes(db: Queryable): Promise<(readonly string[])[]> {
  return (await queryRows(db, listSubscribedStatement)).map((row) => row.event_types);
}

const lockTableStatement = defineCommand(
  'webhook_endpoint_lock_table',
  'lock table webhook_endpoints in share row exclusive mode',
);

/** Prevents concurrent changes of endpoints until the transaction ends, but not reads. */
export async function lockEndpoints(db: Queryable): Promise<void> {
  await execute(db, lockTableStatement);
}

const insertStatement = defineCommand(
  'webhook_endpoint_insert',
  `insert into webhook_endpoints (id, url, description, event_types, secret_sealed, created_at)
   values ($1, $2, $3, $4, $5, $6)`,
);

export async function insertEndpoint(db: Queryable, endpoint: EndpointRecord): Promise<void> {
  await execute(db, insertStatement, [
    endpoint.id,
    endpoint.url,
    endpoint.description,
    endpoint.eventTypes,
    endpoint.secretSealed,
    endpoint.createdAt,
  ]);
}

const updateStatement = defineCommand(
  'webhook_endpoint_update',
  `update webhook_endpoints
   set secret_sealed = $2, previous_secret_sealed = $3, previous_secret_until = $4,
       failing_since = $5, disabled_at = $6, disabled_reason = $7, event_types = $8, description = $9, version = version + 1
   where id = $1`,
);

/** Updates the secrets, the state and the settings of an endpoint, and counts its version. */
export async function updateEndpoint(db: Queryable, endpoint: EndpointRecord): Promise<void> {
  await execute(db, updateStatement, [
    endpoint.id,
    endpoint.secretSealed,
    endpoint.previousSecretSealed,
    endpoint.previousSecretUntil,
    endpoint.failingSince,
    endpoint.disabledAt,
    endpoint.disabledReason,
    endpoint.eventTypes,
    endpoint.description,
  ]);
}

const deleteStatement = defineCommand(
  'webhook_endpoint_delete',
  'delete from webhook_endpoints where id = $1',
);

/** Deletes an endpoint, but not its deliveries. */
export async function deleteEndpoint(db: Queryable, id: string): Promise<void> {
  await execute(db, deleteStatement, [id]);
}

const recordSuccessStatement = defineCommand(
  'webhook_endpoint_record_success',
  'update webhook_endpoints set failing_since = null where id = $1 and failing_since is not null',
);

/** Resets the failures of an endpoint. */
export async function recordEndpointSuccess(db: Queryable, id: string): Promise<void> {
  await execute(db, recordSuccessStatement, [id]);
}

const recordFailureStatement = defineStatement(
  'webhook_endpoint_record_failure',
  Type.Object({ disabled_reason: Type.Union([DisabledReason, Type.Null()]) }),
  `update webhook_endpoints
   set failing_since = case when last_failed_at >= $5 then coalesce(failing_since, $2) else $2::timestamptz end,
       last_failed_at = greatest(last_failed_at, $2),
       disabled_at = case when $3 or failing_since <= $4 and last_failed_at >= $5 then $2::timestamptz end,
       disabled_reason = case when $3 then 'gone' when failing_since <= $4 and last_failed_at >= $5 then 'failing' end
   where id = $1 and disabled_at is null
   returning disabled_reason`,
);

interface EndpointFailure {
  readonly failedAt: Date;
  /** Whether the endpoint answered 410 Gone. */
  readonly isGone: boolean;
  /** An endpoint that has been failing since this time, or longer, is disabled. */
  readonly failingLimit: Date;
  /** If the previous failure is older than this, the endpoint has been failing only since now. */
  readonly forgottenBefore: Date;
}

/**
 * Records a failure, and disables an endpoint that is gone or has failed for too long.
 * @returns why this call disabled it; null if it did not
 */
export async function recordEndpointFailure(
  db: Queryable,
  id: string,
  { failedAt, isGone, failingLimit, forgottenBefore }: EndpointFailure,
): Promise<DisabledReason | null> {
  const parameters = [id, failedAt, isGone, failingLimit, forgottenBefore];
  return (await queryRow(db, recordFailureStatement, parameters))?.disabled_reason ?? null;
}
