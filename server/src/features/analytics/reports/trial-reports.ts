import { Type, type Static } from 'typebox';

import {
  defineStatement,
  queryRows,
  Timestamp,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

import { weekOf, type DayRange } from '../rules/days.ts';
import { MAX_REPORT_ROWS } from './event-reports.ts';

const TrialProductRow = Type.Object({
  productId: Type.String(),
  /** Empty: no license followed. */
  boughtProductId: Type.String(),
  trials: Type.Number(),
});

/** Trials of a product that led to a license of a product. */
export type TrialProduct = Readonly<Static<typeof TrialProductRow>>;

const productStatement = defineStatement(
  'report_trials_by_product',
  TrialProductRow,
  `select product_id, bought_product_id, sum(trials)::bigint as trials
   from trial_days
   where day >= $1 and date_trunc('week', day::timestamp) <= $2::date and ($3::text is null or product_id = $3)
   group by 1, 2 order by 3 desc, 1, 2 limit ${MAX_REPORT_ROWS}`,
);

/** Returns trials by product and by the product that they led to, of the same days as `listTrialWeeks`. */
export async function listTrialProducts(
  db: Queryable,
  { from, to }: DayRange,
  productId: string | null,
): Promise<TrialProduct[]> {
  return queryRows(db, productStatement, [weekOf(from), to, productId]);
}

const rolledStatement = defineStatement(
  'report_trials_rolled_at',
  Type.Object({ rolledAt: Timestamp }),
  `select rolled_at from rollup_marks where source = 'trials' order by day desc limit 1`,
);

/** Returns when trials were last rolled up, or null. */
export async function findTrialRollup(db: Queryable): Promise<Date | null> {
  return (await queryRow(db, rolledStatement))?.rolledAt ?? null;
}
