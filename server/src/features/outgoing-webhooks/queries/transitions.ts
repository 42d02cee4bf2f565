import { Type } from 'typebox';

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

/** A time at which the status of a license may change without a change of the license. */
export interface StatusTransition {
  readonly at: Date;
  readonly licenseId: string;
}

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
  Type.Object({ processed_until: Timestamp, license_id: Type.String() }),
  'select processed_until, license_id from webhook_expiry_cursor for update skip locked',
);

/** Locks and returns the cursor; null if another process has locked it. */
export async function lockExpiryCursor(db: Queryable): Promise<StatusTransition | null> {
  const row = await queryRow(db, lockStatement);
  return row && { at: row.processed_until, licenseId: row.license_id };
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
  Type.Object({ transition_at: Timestamp, id: Type.String() }),
  `select transition_at, id from (
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
  const rows = await queryRows(db, listStatement, parameters);
  return rows.map((row) => ({ at: row.transition_at, licenseId: row.id }));
}

const listRecordedStatement = defineStatement(
  'webhook_message_list_recorded_transitions',
  Type.Object({ id: Type.String(), transition_at: Timestamp }),
  `select input.license_id as id, input.transition_at
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
  const rows = await queryRows(
    db,
    listRecordedStatement,
    toColumns(transitions, ['licenseId', 'at']),
  );
  return rows.map((row) => ({ at: row.transition_at, licenseId: row.id }));
}
