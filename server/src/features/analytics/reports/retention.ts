import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import { weekOf, type DayRange } from '../rules/periods.ts';
import { MAX_REPORT_ROWS } from './limits.ts';

/** How many of the machines that were new in one week were in use in another. */
export interface RetentionCell {
  /** The Monday of the week in which they were new. */
  readonly cohort: Day;
  /** How many were new then. */
  readonly newMachines: number;
  /** 0 is the week of the cohort itself. */
  readonly weeksLater: number;
  readonly machines: number;
}

const listStatement = defineStatement(
  'report_retention',
  Type.Object({
    cohort: Type.String(),
    new_machines: Type.Number(),
    weeks_later: Type.Integer(),
    machines: Type.Number(),
  }),
  `select to_char(cohort, 'YYYY-MM-DD') as cohort, first.machines as new_machines, (later.week - cohort) / 7 as weeks_later,
          later.machines
   from usage_retention as later
   join (select cohort, machines from usage_retention where week = cohort) as first using (cohort)
   where cohort between $1 and $2 and later.week <= $2
   order by 1, 3 limit ${MAX_REPORT_ROWS}`,
);

/** Do those come back who are new? For each week in the range, and each later one in it in which any of them did. */
export async function listRetention(
  db: Queryable,
  { from, to }: DayRange,
): Promise<RetentionCell[]> {
  const rows = await queryRows(db, listStatement, [weekOf(from), to]);
  return rows.map(({ new_machines: newMachines, weeks_later: weeksLater, ...row }) => ({
    ...row,
    newMachines,
    weeksLater,
  }));
}
