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

/** A moment of a license at which its status may change by itself. */
export interface StatusTransition {
  readonly moment: Date;
  readonly licenseId: string;
}

const beginStatement = defineCommand(
  'webhook_expiry_cursor_begin',
  `insert into webhook_expiry_cursor (processed_until, license_id) values ($1, '00000000-0000-0000-0000-000000000000')
   on conflict do nothing`,
);

/** Begins to tell at a moment, unless that was begun before. */
export async function insertExpiryCursor(db: Queryable, from: Date): Promise<void> {
  await execute(db, beginStatement, [from]);
}

const lockStatement = defineStatement(
  'webhook_expiry_cursor_lock',
  Type.Object({ processed_until: Timestamp, license_id: Type.String() }),
  'select processed_until, license_id from webhook_expiry_cursor for update skip locked',
);

/** How far it was told; null while another process is telling. */
export async function lockExpiryCursor(db: Queryable): Promise<StatusTransition | null> {
  const row = await queryRow(db, lockStatement);
  return row && { moment: row.processed_until, licenseId: row.license_id };
}

const moveStatement = defineCommand(
  'webhook_expiry_cursor_move',
  'update webhook_expiry_cursor set processed_until = $1, license_id = $2',
);

/** Notes how far it was told. */
export async function moveExpiryCursor(db: Queryable, to: StatusTransition): Promise<void> {
  await execute(db, moveStatement, [to.moment, to.licenseId]);
}

/** One index range: the moments `column + shift` of licenses after the cursor, up to now. */
function transitionsOf(column: string, shift: string | null, condition: string): string {
  const moment = shift === null ? column : `${column} + ${shift}`;
  const back = shift === null ? '' : ` - ${shift}`;
  return `(
    select ${moment} as moment, id from licenses
    where ${column} is not null and (${column}, id) > ($1::timestamptz${back}, $2::uuid)
      and ${column} <= $3::timestamptz${back} ${condition}
    order by ${column}, id limit $5
  )`;
}

const listStatement = defineStatement(
  'license_list_transitions',
  Type.Object({ moment: Timestamp, id: Type.String() }),
  `select moment, id from (
     ${transitionsOf('expires_at', null, '')}
     union ${transitionsOf('expires_at', `$4 * interval '1 millisecond'`, 'and subscription')}
     union ${transitionsOf('cancel_scheduled_for', null, 'and subscription')}
     union ${transitionsOf('canceled_at', null, '')}
     union ${transitionsOf('paused_at', null, '')}
   ) as found
   order by moment, id
   limit $5`,
);

/**
 * The moments after a cursor, up to a moment, at which licenses may have changed their status by time: ends, ends of the
 * days of grace, cancellations and pauses that were announced; in order, at most `limit`.
 */
export async function listTransitions(
  db: Queryable,
  after: StatusTransition,
  until: Date,
  graceMs: number,
  limit: number,
): Promise<StatusTransition[]> {
  const parameters = [after.moment, after.licenseId, until, graceMs, limit];
  const rows = await queryRows(db, listStatement, parameters);
  return rows.map(({ moment, id }) => ({ moment, licenseId: id }));
}

const listRecordedStatement = defineStatement(
  'webhook_message_list_recorded_transitions',
  Type.Object({ id: Type.String(), moment: Timestamp }),
  `select found.license_id as id, found.moment
   from unnest($1::uuid[], $2::timestamptz[]) as found (license_id, moment)
   where exists (select from webhook_messages message
                 where message.license_id = found.license_id and message.created_at >= found.moment
                   and message.type in ('license.expired', 'license.status_changed'))`,
);

/** Of which moments a later message told already, since it carried the license's status then. */
export async function listRecordedTransitions(
  db: Queryable,
  moments: readonly StatusTransition[],
): Promise<StatusTransition[]> {
  const rows = await queryRows(
    db,
    listRecordedStatement,
    toColumns(moments, ['licenseId', 'moment']),
  );
  return rows.map(({ id, moment }) => ({ moment, licenseId: id }));
}
