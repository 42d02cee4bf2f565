/** Statements of the reports of revenue, over its roll-ups. */
import type { RevenueDimension } from '@latchkey/contract';
import { Type } from 'typebox';

import { runHot, type HotStatement, type TextRow } from '#server/db/hot-statement.ts';
import { defineStatement, Nullable, queryRow, type Queryable } from '#server/db/statement.ts';

import type { RevenueSums } from '../rules/revenue/summarize-revenue.ts';

const MONEY = [
  'payments',
  'gross',
  'tax',
  'fees',
  'refunds',
  'refunded_tax',
  'disputes',
  'disputed_tax',
];

const RECURRING = [
  'mrr_new',
  'mrr_expansion',
  'mrr_contraction',
  'mrr_lost',
  'mrr_reactivated',
  'subscriptions_new',
  'subscriptions_lost',
  'subscriptions_reactivated',
];

const KEYS = `provider, case when $1::boolean then product_id else '' end as product_id,
          case when $2::boolean then country else '' end as country, currency`;

const sum = (columns: readonly string[], sign = ''): string =>
  columns.map((column) => `${sign}sum(${column}) as ${column}`).join(', ');

const zeros = (columns: readonly string[]): string =>
  columns.map((column) => `0 as ${column}`).join(', ');

/**
 * What recurs before the first month is a single sum for each group, in a month before all others. Recurring revenue of a month
 * that has not ended counts until today.
 */
const listStatement: HotStatement = {
  name: 'billing_revenue_report',
  text: `select case when $6::boolean then month end as month, ${KEYS}, ${sum([...MONEY, ...RECURRING])}
   from billing_revenue_months where month >= $5::date and month <= $3::date group by 1, 2, 3, 4, 5
   union all
   select '-infinity'::date, ${KEYS}, ${zeros(MONEY)},
          sum(mrr_new + mrr_expansion + mrr_contraction + mrr_lost + mrr_reactivated), 0, 0, 0, 0,
          sum(subscriptions_new + subscriptions_reactivated - subscriptions_lost), 0, 0
   from billing_revenue_months where month < $5::date group by 2, 3, 4, 5
   union all
   select $3::date, ${KEYS}, ${zeros(MONEY)}, ${sum(RECURRING, '-')}
   from billing_revenue_days
   where day > $4::date and day < $3::date + interval '1 month' group by 2, 3, 4, 5`,
};

/** What a report is divided by, and its months. */
export interface RevenueRange {
  readonly by: ReadonlySet<RevenueDimension>;
  /** Such as `2027-03`. */
  readonly from: string;
  readonly until: string;
  /** In UTC, such as `2027-03-09`. */
  readonly today: string;
}

/**
 * Lists the sums of all months until one, by provider and currency, and further by what is asked for. Rows are read by position:
 * as objects that are validated, they took two thirds of the time of a report.
 */
export async function listRevenueSums(
  db: Queryable,
  { by, from, until, today }: RevenueRange,
): Promise<RevenueSums[]> {
  const { rows } = await runHot(db, listStatement, [
    String(by.has('product')),
    String(by.has('country')),
    toDate(until),
    today,
    toDate(from),
    String(by.has('month')),
  ]);
  return rows.map((row) => toSums(row, from));
}

function toDate(month: string): string {
  return `${month}-01`;
}

/** @param from the month of sums that are not divided by month */
function toSums([month, ...row]: TextRow, from: string): RevenueSums {
  const [provider, productId, country, currency] = row.slice(0, 4).map((text) => text ?? '');
  return {
    month: month === '-infinity' ? '' : (month?.slice(0, 7) ?? from),
    provider: provider ?? '',
    productId: productId ?? '',
    country: country ?? '',
    currency: currency ?? '',
    payments: Number(row[4]),
    gross: Number(row[5]),
    tax: Number(row[6]),
    fees: Number(row[7]),
    refunds: Number(row[8]),
    refundedTax: Number(row[9]),
    disputes: Number(row[10]),
    disputedTax: Number(row[11]),
    mrrNew: Number(row[12]),
    mrrExpansion: Number(row[13]),
    mrrContraction: Number(row[14]),
    mrrLost: Number(row[15]),
    mrrReactivated: Number(row[16]),
    subscriptionsNew: Number(row[17]),
    subscriptionsLost: Number(row[18]),
    subscriptionsReactivated: Number(row[19]),
  };
}

const findDensityStatement = defineStatement(
  'billing_revenue_find_density',
  Type.Object({ first: Nullable.Text, sums: Type.Integer(), groups: Type.Integer() }),
  `select (select to_char(min(month), 'YYYY-MM') from billing_revenue_months) as first, count(*)::integer as sums,
          count(distinct (case when $1::boolean then product_id end, case when $2::boolean then country end,
                          case when $3::boolean then provider end, currency))::integer as groups
   from billing_revenue_months where month = (select max(month) from billing_revenue_months where month <= $4::date)`,
);

/** How many of the stored sums a row of a report adds. */
export interface RevenueDensity {
  /** The first month with revenue, such as `2027-03`; null without any. */
  readonly first: string | null;
  /** Of the last month. */
  readonly sums: number;
  readonly groups: number;
}

/** Finds how many of the stored sums a row of a report by some dimensions adds. @param until such as `2027-03` */
export async function findRevenueDensity(
  db: Queryable,
  by: ReadonlySet<RevenueDimension>,
  until: string,
): Promise<RevenueDensity> {
  const parameters = [by.has('product'), by.has('country'), by.has('provider'), toDate(until)];
  const density = await queryRow(db, findDensityStatement, parameters);
  return density ?? { first: null, sums: 0, groups: 0 };
}

const findMonthStatement = defineStatement(
  'billing_revenue_find_month',
  Type.Object({ month: Nullable.Text }),
  `select case when count(*) = $3 then to_char(max(month), 'YYYY-MM') end as month from (
     select month from billing_revenue_months where month >= $1::date and month <= $2::date order by month limit $3::integer
   ) as listed`,
);

/** Finds the month in which the number of stored sums since another month reaches a limit; null: it does not. */
export async function findMonthOfSums(
  db: Queryable,
  { from, until }: Pick<RevenueRange, 'from' | 'until'>,
  limit: number,
): Promise<string | null> {
  const row = await queryRow(db, findMonthStatement, [toDate(from), toDate(until), limit]);
  return row?.month ?? null;
}
