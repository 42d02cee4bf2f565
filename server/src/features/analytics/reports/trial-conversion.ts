import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import { addDays, dayOf, type Day } from '../rules/days.ts';
import { weekOf, type DayRange } from '../rules/periods.ts';
import { MAX_REPORT_ROWS } from './limits.ts';

/** What became of the trials of a week. */
export interface TrialWeek {
  /** The Monday. */
  readonly week: Day;
  readonly trials: number;
  /** Those on whose machine, or by whose install, a license was activated within 14 days. */
  readonly paid: number;
  /** Of all trials, from 0 to 1. */
  readonly share: number;
  /** More may yet be paid. */
  readonly open: boolean;
}

/** The week, and the 14 days of those who began at its end. */
const OPEN_DAYS = 21;

const listStatement = defineStatement(
  'report_trial_conversion',
  Type.Object({ week: Type.String(), trials: Type.Number(), paid: Type.Number() }),
  `select to_char(week, 'YYYY-MM-DD') as week, trials, paid
   from trial_weeks where week between $1 and $2 order by 1 limit ${MAX_REPORT_ROWS}`,
);

/** Do trials become licenses? By the week in which they began, the oldest first; from roll-ups. */
export async function listTrialWeeks(
  db: Queryable,
  { from, to }: DayRange,
  now: Date,
): Promise<TrialWeek[]> {
  const rows = await queryRows(db, listStatement, [weekOf(from), to]);
  return rows.map((row) => ({
    ...row,
    share: row.paid / row.trials,
    open: addDays(row.week, OPEN_DAYS) > dayOf(now),
  }));
}
