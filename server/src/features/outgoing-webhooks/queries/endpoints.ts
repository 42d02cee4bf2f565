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

/** Why an endpoint is told nothing: an operator said so, it answered 410, or it only failed for days. */
type DisabledReason = 'operator' | 'gone' | 'failing';

/** An endpoint as it is stored; its secrets are sealed. */
export interface EndpointRecord {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  /** Empty: all of them. A later version may know more than this one. */
  readonly eventTypes: readonly string[];
  readonly secretSealed: Buffer;
  readonly previousSecretSealed: Buffer | null;
  readonly previousSecretUntil: Date | null;
  readonly createdAt: Date;
  /** The first failure since the last success, or since a long time without any. */
  readonly failingSince: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledReason: DisabledReason | null;
}

const Reason = Type.Union([
  Type.Literal('operator'),
  Type.Literal('gone'),
  Type.Literal('failing'),
]);

const EndpointRow = Type.Object({
  id: Type.String(),
  url: Type.String(),
  description: Nullable.Text,
  event_types: Type.Array(Type.String()),
  secret_sealed: Bytes,
  previous_secret_sealed: Type.Union([Bytes, Type.Null()]),
  previous_secret_until: Nullable.Moment,
  created_at: Timestamp,
  failing_since: Nullable.Moment,
  disabled_at: Nullable.Moment,
  disabled_reason: Type.Union([Reason, Type.Null()]),
});

const COLUMNS = Object.keys(EndpointRow.properties).join(', ');

const listStatement = defineStatement(
  'webhook_endpoint_list',
  EndpointRow,
  `select ${COLUMNS} from webhook_endpoints order by created_at, id limit $1`,
);

/** The endpoints, the oldest first. */
export async function listEndpointRecords(db: Queryable, limit: number): Promise<EndpointRecord[]> {
  return (await queryRows(db, listStatement, [limit])).map(toRecord);
}

const listWantedStatement = defineStatement(
  'webhook_endpoint_list_wanted',
  Type.Object({ event_types: Type.Array(Type.String()) }),
  'select event_types from webhook_endpoints where disabled_at is null limit 1000',
);

/** The event types that each endpoint in use wants; an empty list stands for all. */
export async function listWantedTypes(db: Queryable): Promise<(readonly string[])[]> {
  return (await queryRows(db, listWantedStatement)).map((row) => row.event_types);
}

const lockTableStatement = defineCommand(
  'webhook_endpoint_lock_table',
  'lock table webhook_endpoints in share row exclusive mode',
);

/** Keeps others from changing endpoints until the transaction ends; reading them goes on. */
export async function lockEndpoints(db: Queryable): Promise<void> {
  await execute(db, lockTableStatement);
}

const insertStatement = defineCommand(
  'webhook_endpoint_insert',
  `insert into webhook_endpoints (id, url, description, event_types, secret_sealed, created_at)
   values ($1, $2, $3, $4, $5, $6)`,
);

/** Stores a new endpoint. */
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
       failing_since = $5, disabled_at = $6, disabled_reason = $7
   where id = $1`,
);

/** Writes back what can change of an endpoint. */
export async function updateEndpoint(db: Queryable, endpoint: EndpointRecord): Promise<void> {
  await execute(db, updateStatement, [
    endpoint.id,
    endpoint.secretSealed,
    endpoint.previousSecretSealed,
    endpoint.previousSecretUntil,
    endpoint.failingSince,
    endpoint.disabledAt,
    endpoint.disabledReason,
  ]);
}

const deleteStatement = defineCommand(
  'webhook_endpoint_delete',
  'delete from webhook_endpoints where id = $1',
);

/** Removes an endpoint. What it was told stays in the log until that is cleared. */
export async function deleteEndpoint(db: Queryable, id: string): Promise<void> {
  await execute(db, deleteStatement, [id]);
}

const noteSuccessStatement = defineCommand(
  'webhook_endpoint_record_success',
  'update webhook_endpoints set failing_since = null where id = $1 and failing_since is not null',
);

/** Ends a time of failures. */
export async function recordEndpointSuccess(db: Queryable, id: string): Promise<void> {
  await execute(db, noteSuccessStatement, [id]);
}

const noteFailureStatement = defineStatement(
  'webhook_endpoint_record_failure',
  Type.Object({ disabled_reason: Type.Union([Reason, Type.Null()]) }),
  `update webhook_endpoints
   set failing_since = case when last_failed_at >= $5 then coalesce(failing_since, $2) else $2::timestamptz end,
       last_failed_at = greatest(last_failed_at, $2),
       disabled_at = case when $3 or failing_since <= $4 and last_failed_at >= $5 then $2::timestamptz end,
       disabled_reason = case when $3 then 'gone' when failing_since <= $4 and last_failed_at >= $5 then 'failing' end
   where id = $1 and disabled_at is null
   returning disabled_reason`,
);

/** A failure, and what makes of it more than one. */
interface EndpointFailure {
  readonly failedAt: Date;
  /** Whether the endpoint said that it is gone for good. */
  readonly isGone: boolean;
  /** Whoever failed since then, or longer, is disabled. */
  readonly tooLongSince: Date;
  /** A failure before this is over: the next one begins a new time of failures. */
  readonly overBefore: Date;
}

/**
 * Begins a time of failures or goes on with it, and disables an endpoint whose time is up.
 * @returns why this very call disabled it; null when it did not
 */
export async function recordEndpointFailure(
  db: Queryable,
  id: string,
  { failedAt, isGone, tooLongSince, overBefore }: EndpointFailure,
): Promise<DisabledReason | null> {
  const parameters = [id, failedAt, isGone, tooLongSince, overBefore];
  return (await queryRow(db, noteFailureStatement, parameters))?.disabled_reason ?? null;
}

function toRecord(row: Static<typeof EndpointRow>): EndpointRecord {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    eventTypes: row.event_types,
    secretSealed: row.secret_sealed,
    previousSecretSealed: row.previous_secret_sealed,
    previousSecretUntil: row.previous_secret_until,
    createdAt: row.created_at,
    failingSince: row.failing_since,
    disabledAt: row.disabled_at,
    disabledReason: row.disabled_reason,
  };
}
