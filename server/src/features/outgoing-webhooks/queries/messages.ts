import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  type Queryable,
  toColumns,
} from '#server/db/statement.ts';

/** A message to the endpoints that subscribe to its type. */
export interface NewMessage {
  readonly id: string;
  readonly type: string;
  readonly licenseId: string;
  readonly payload: string;
}

const insertStatement = defineCommand(
  'webhook_message_insert',
  `with event as (
     select * from unnest($1::text[], $2::text[], $3::uuid[], $4::text[]) as event (id, type, license_id, payload)
   ), subscription as (
     select event.id, endpoint.id as endpoint_id
     from event
     join webhook_endpoints endpoint
       on endpoint.disabled_at is null
      and (endpoint.event_types = '{}' or event.type = any (endpoint.event_types))
   ), message as (
     insert into webhook_messages (id, type, license_id, payload, created_at)
     select id, type, license_id, payload, $5::timestamptz
     from event
     where exists (select from subscription where subscription.id = event.id)
     order by id
     on conflict (id) do nothing
     returning id, type
   )
   insert into webhook_deliveries (message_id, endpoint_id, type, created_at, state, next_attempt_at)
   select message.id, subscription.endpoint_id, message.type, $5::timestamptz, 'pending', $5::timestamptz
   from message join subscription on subscription.id = message.id`,
);

/**
 * Inserts messages with a delivery to each endpoint that subscribes to their type. Skips messages without subscribers and
 * those already stored.
 */
export async function insertMessages(
  db: Queryable,
  messages: readonly NewMessage[],
  createdAt: Date,
): Promise<void> {
  await execute(db, insertStatement, [
    ...toColumns(messages, ['id', 'type', 'licenseId', 'payload']),
    createdAt,
  ]);
}

const removeStatement = defineStatement(
  'webhook_message_remove_old',
  Type.Object({ removed: Type.Number() }),
  `with old as (
     select id from webhook_messages where created_at < $1 order by created_at limit $2 for update skip locked
   ), delivery as (
     delete from webhook_deliveries where message_id in (select id from old)
   ), attempt as (
     delete from webhook_attempts where message_id in (select id from old)
   ), message as (
     delete from webhook_messages where id in (select id from old) returning id
   )
   select count(*) as removed from message`,
);

/** Deletes messages before a time with their deliveries, at most `limit`, and returns their number. */
export async function removeMessagesBefore(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<number> {
  return (await queryRow(db, removeStatement, [before, limit]))?.removed ?? 0;
}
