import { Type } from 'typebox';

import { defineStatement, queryRow, type Queryable } from '#server/db/statement.ts';

const newerStatement = defineStatement(
  'rollup_is_data_newer',
  Type.Object({ newer: Type.Boolean() }),
  `select exists (select from event_ids where received_at > $1)
       or exists (select from usage_days where day >= ($1 at time zone 'UTC')::date and last_at > $1) as newer`,
);

/** Whether an event or a heartbeat came after a moment. */
export async function isDataNewer(db: Queryable, moment: Date): Promise<boolean> {
  return (await queryRow(db, newerStatement, [moment]))?.newer === true;
}
