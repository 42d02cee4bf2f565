import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

const removeStatement = defineCommand(
  'billing_event_remove_old_bodies',
  `update billing_events as event
   set raw = null, raw_removed_at = $2
   from (
     select event_id, provider from billing_events
     where raw is not null and status in ('processed', 'ignored') and received_at < $1
     order by received_at
     limit $3
     for update skip locked
   ) as old
   where event.event_id = old.event_id and event.provider = old.provider`,
);

/**
 * Removes the bodies of applied and ignored events that were received before a moment, oldest first; an event that is
 * deferred or failed keeps its body.
 * @returns how many, at most `limit`
 */
export async function removeEventBodies(
  db: Queryable,
  receivedBefore: Date,
  now: Date,
  limit: number,
): Promise<number> {
  return execute(db, removeStatement, [receivedBefore, now, limit]);
}

const countStatement = defineStatement(
  'billing_event_count_old_bodies',
  Type.Object({ bodies: Type.Number() }),
  `select count(*) as bodies from (
     select from billing_events
     where raw is not null and status in ('processed', 'ignored') and received_at < $1
     limit $2
   ) as old`,
);

/** How many bodies `removeEventBodies` would remove, counted as far as `most`. */
export async function countOldEventBodies(
  db: Queryable,
  receivedBefore: Date,
  most: number,
): Promise<number> {
  return (await queryRow(db, countStatement, [receivedBefore, most]))?.bodies ?? 0;
}
