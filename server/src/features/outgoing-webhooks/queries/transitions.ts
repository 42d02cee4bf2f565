import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
  toColumns,
} from '#server/db/statement.ts';

const StatusTransition = Type.Object({ at: Timestamp, licenseId: Type.String() });

/** A time at which the status of a license may change without a change of the license. */
export type StatusTransition = Readonly<Static<typeof StatusTransition>>;

const insertStatement = defineCommand(
  'webhook_expiry_cursor_insert',
  `insert into webhook_expiry_cursor (processed_until, license_id) values ($1, '00000000-0000-0000-0000-000000000000')
   on conflict do nothing`,
);

/** Creates the cursor at a time, unless it exists. */
export async function insertExpiryCursor(db: Queryable, from: Date): Promise<void> {
  await execute(db, insertStatement, [from]);
}

const lockStatement = defineStatement(
  'webhook_expiry_cursor_lock',
  StatusTransition,
  'select processed_until as at, license_id as "licenseId" from webhook_expiry_cursor for update skip locked',
);

/** Locks and returns the cursor; null if another process has locked it. */
export async function lockExpiryCursor(db: Queryable): Promise<StatusTransition | null> {
  return queryRow(db, lockStatement);
}

const moveStatement = defineCommand(
  'webhook_expiry_cursor_move',
  'update webhook_expiry_cursor set processed_until = $1, license_id = $2',
);

/** Moves the cursor. */
export async function moveExpiryCursor(db: Queryable, to: StatusTransition): Promise<void> {
  await execute(db, moveStatement, [to.at, to.licenseId]);
}

/** A scan of one index: the transitions at `column + shift` after the cursor, up to now. */
function transitionsOf(column: string, shift: string | null, condition: string): string {
  const time = shift === null ? column : `${column} + ${shift}`;
  const back = shift === null ? '' : ` - ${shift}`;
  return `(
    select ${time} as transition_at, id from licenses
    where ${column} is not null and (${column}, id) > ($1::timestamptz${back}, $2::uuid)
      and ${column} <= $3::timestamptz${back} ${condition}
    order by ${column}, id limit $5
  )`;
}

const listStatement = defineStatement(
  'license_list_transitions',
  StatusTransition,
  `select transition_at as at, id as "licenseId" from (
     ${transitionsOf('expires_at', null, '')}
     union ${transitionsOf('expires_at', `$4 * interval '1 millisecond'`, 'and subscription')}
     union ${transitionsOf('cancel_scheduled_for', null, 'and subscription')}
     union ${transitionsOf('canceled_at', null, '')}
     union ${transitionsOf('paused_at', null, '')}
   ) as found
   order by transition_at, id
   limit $5`,
);

/**
 * Lists the transitions after the cursor up to a time: expiries, ends of the grace period, scheduled cancellations and
 * pauses; in order, at most `limit`.
 */
export async function listTransitions(
  db: Queryable,
  after: StatusTransition,
  until: Date,
  graceMs: number,
  limit: number,
): Promise<StatusTransition[]> {
  const parameters = [after.at, after.licenseId, until, graceMs, limit];
  return queryRows(db, listStatement, parameters);
}

const listRecordedStatement = defineStatement(
  'webhook_message_list_recorded_transitions',
  StatusTransition,
  `select input.transition_at as at, input.license_id as "licenseId"
   from unnest($1::uuid[], $2::timestamptz[]) as input (license_id, transition_at)
   where exists (select from webhook_messages message
                 where message.license_id = input.license_id and message.created_at >= input.transition_at
                   and message.type in ('license.expired', 'license.status_changed'))`,
);

/** Lists those of the transitions that a later message has already reported, since it contained the status at that time. */
export async function listRecordedTransitions(
  db: Queryable,
  transitions: readonly StatusTransition[],
): Promise<StatusTransition[]> {
  return queryRows(db, listRecordedStatement, toColumns(transitions, ['licenseId', 'at']));
}
