import { Type, type Static } from 'typebox';

import {
  defineStatement,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

const MaybeNumber = Type.Union([Type.Number(), Type.Null()]);

const DayRow = Type.Object({
  day: Type.String(),
  /** Null: not rolled up. */
  usable: MaybeNumber,
  created: MaybeNumber,
  trials: Type.Number(),
  converted: Type.Number(),
  machines: Type.Number(),
});

/** The numbers of a day, from roll-ups. */
export type FigureDay = Readonly<Static<typeof DayRow>>;

const listStatement = defineStatement(
  'overview_list_days',
  DayRow,
  `select to_char(step, 'YYYY-MM-DD') as day, usable, created, coalesce(tried.trials, 0)::bigint as trials,
          coalesce(tried.converted, 0)::bigint as converted, coalesce(machines, 0) as machines
   from generate_series($1::date, $2::date, interval '1 day') as step
   left join license_days on license_days.day = step::date
   left join (
     select day, sum(trials) as trials, sum(trials) filter (where bought_product_id <> '') as converted
     from trial_days where day between $1 and $2 group by day
   ) as tried on tried.day = step::date
   left join usage_totals on period = 'day' and starts = step::date
   order by step`,
);

/** Lists the numbers of each day of a range, oldest first. */
export async function listFigureDays(
  db: Queryable,
  from: string,
  to: string,
): Promise<FigureDay[]> {
  return queryRows(db, listStatement, [from, to]);
}

const rolledStatement = defineStatement(
  'overview_find_rollup',
  Type.Object({ rolledAt: Timestamp }),
  `select rolled_at from rollup_marks where source = 'licenses' order by day desc limit 1`,
);

/** Returns when licenses were last rolled up, or null. */
export async function findLicenseRollup(db: Queryable): Promise<Date | null> {
  return (await queryRow(db, rolledStatement))?.rolledAt ?? null;
}
