import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import type { DayRange } from '../rules/periods.ts';
import { MAX_REPORT_ROWS } from './limits.ts';

/** How many events of a day were not stored, for one reason. */
export interface DropDay {
  readonly day: Day;
  readonly reason: string;
  readonly events: number;
}

const listStatement = defineStatement(
  'report_drops',
  Type.Object({ day: Type.String(), reason: Type.String(), events: Type.Number() }),
  `select to_char(day, 'YYYY-MM-DD') as day, reason, events
   from event_drops where day between $1 and $2
   order by 1, events desc, reason limit ${MAX_REPORT_ROWS}`,
);

/** How many events were not stored, and why? Day by day, the oldest first. */
export async function listDrops(db: Queryable, { from, to }: DayRange): Promise<DropDay[]> {
  return queryRows(db, listStatement, [from, to]);
}
