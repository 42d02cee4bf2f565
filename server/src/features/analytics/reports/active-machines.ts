import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import { periodOf, type DayRange, type Period } from '../rules/periods.ts';

/** How many machines used the application in a day, a week or a month. */
export interface ActiveMachines {
  /** Its first day. */
  readonly starts: Day;
  /** Each counted once. */
  readonly machines: number;
}

const listStatement = defineStatement(
  'report_active_machines',
  Type.Object({ starts: Type.String(), machines: Type.Number() }),
  `select to_char(step, 'YYYY-MM-DD') as starts, coalesce(machines, 0) as machines
   from generate_series($2::timestamp, $3::timestamp, ('1 ' || $1)::interval) as step
   left join usage_totals on period = $1 and starts = step::date
   order by step`,
);

/**
 * How many machines are in use? For each day, week (from Monday) or month that has a day in the range, the oldest first;
 * 0 where none was. Exact, from roll-ups.
 */
export async function listActiveMachines(
  db: Queryable,
  range: DayRange,
  period: Period,
): Promise<ActiveMachines[]> {
  return queryRows(db, listStatement, [period, periodOf(period, range.from), range.to]);
}
