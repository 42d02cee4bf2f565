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

import { TRANSITION_SOURCES, type TransitionSource } from '../../licenses/rules/status-sql.ts';

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

/** A scan of one index: the transitions after the cursor, up to now. */
function transitionsOf({ column, delay, only }: TransitionSource): string {
  const time = delay === null ? column : `${column} + ${delay}`;
  const back = delay === null ? '' : ` - ${delay}`;
  return `(
    select ${time} as transition_at, id from licenses
    where ${column} is not null and (${column}, id) > ($1::timestamptz${back}, $2::uuid)
      and ${column} <= $3::timestamptz${back} ${only === null ? '' : `and ${only}`}
    order by ${column}, id limit $4
  )`;
}

const listStatement = defineStatement(
  'license_list_transitions',
  StatusTransition,
  `select transition_at as at, id as "licenseId" from (
     ${TRANSITION_SOURCES.map(transitionsOf).join(' union ')}
   ) as found
   order by transition_at, id
   limit $4`,
);

/**
 * Lists the transitions after the cursor up to a time: expiries, ends of the grace period, scheduled cancellations and
 * pauses; in order, at most `limit`.
 */
export async function listTransitions(
  db: Queryable,
  after: StatusTransition,
  until: Date,
  limit: number,
): Promise<StatusTransition[]> {
  return queryRows(db, listStatement, [after.at, after.licenseId, until, limit]);
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
