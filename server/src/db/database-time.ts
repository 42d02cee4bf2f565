import { Type } from 'typebox';

import { defineStatement, queryRow, Timestamp, type Queryable } from './statement.ts';

const timeStatement = defineStatement(
  'database_time',
  Type.Object({ now: Timestamp }),
  'select clock_timestamp() as now',
);

/** Reads the clock of the database's machine, which all processes of a service share. */
export async function readDatabaseTime(db: Queryable): Promise<Date> {
  const row = await queryRow(db, timeStatement);
  if (row === null) throw new Error('the database returned no time');
  return row.now;
}
