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

const GROUP = `provider, case when $1::boolean then product_id else '' end as product_id,
          case when $2::boolean then country else '' end as country, currency`;

const sum = (columns: readonly string[], sign = ''): string =>
  columns.map((column) => `${sign}sum(${column}) as ${column}`).join(', ');

const zeros = (columns: readonly string[]): string =>
  columns.map((column) => `0 as ${column}`).join(', ');

/** The roll-ups of months: a suffix of names of statements, the table, the condition on its rows, and the first free parameter. */
type Source = (parameter: number) => {
  readonly suffix: string;
  readonly table: string;
  readonly where: string;
};

/** Divided by product and country: most of the rows. */
const fromMonths: Source = () => ({ suffix: '', table: 'billing_revenue_months', where: 'true' });

/** Divided by one of them or neither, which is the last parameter. */
const fromSummaries: Source = (parameter) => ({
  suffix: '_summary',
  table: 'billing_revenue_summaries',
  where: `divided_by = $${parameter}::text`,
});

/** A statement for each source. */
interface BySource<Statement> {
  readonly months: Statement;
  readonly summaries: Statement;
}

function forSources<Statement>(define: (source: Source) => Statement): BySource<Statement> {
  return { months: define(fromMonths), summaries: define(fromSummaries) };
}

/** Selects the source with the fewest rows that a report by some dimensions can be added up from. */
function selectSource<Statement>(
  { months, summaries }: BySource<Statement>,
  by: RevenueRange['by'],
): { readonly statement: Statement; readonly dividedBy: readonly string[] } {
  if (by.has('product') && by.has('country')) return { statement: months, dividedBy: [] };
  const dividedBy = by.has('product') ? 'product' : by.has('country') ? 'country' : '';
  return { statement: summaries, dividedBy: [dividedBy] };
}

/**
 * What recurs before the first month is a single sum for each group, in a month before all others. Recurring revenue of a month
 * that has not ended counts until today.
 */
const listStatements = forSources((source): HotStatement => {
  const { suffix, table, where } = source(7);
  return {
    name: `billing_revenue_report${suffix}`,
    text: `select case when $6::boolean then month end as month, ${GROUP}, ${sum([...MONEY, ...RECURRING])}
   from ${table} where ${where} and month >= $5::date and month <= $3::date group by 1, 2, 3, 4, 5
   union all
   select '-infinity'::date, ${GROUP}, ${zeros(MONEY)},
          sum(mrr_new + mrr_expansion + mrr_contraction + mrr_lost + mrr_reactivated), 0, 0, 0, 0,
          sum(subscriptions_new + subscriptions_reactivated - subscriptions_lost), 0, 0
   from ${table} where ${where} and month < $5::date group by 2, 3, 4, 5
   union all
   select $3::date, ${GROUP}, ${zeros(MONEY)}, ${sum(RECURRING, '-')}
   from billing_revenue_days
   where day > $4::date and day < $3::date + interval '1 month' group by 2, 3, 4, 5`,
  };
});

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
  const { statement, dividedBy } = selectSource(listStatements, by);
  const { rows } = await runHot(db, statement, [
    String(by.has('product')),
    String(by.has('country')),
    toDate(until),
    today,
    toDate(from),
    String(by.has('month')),
    ...dividedBy,
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

const Density = Type.Object({
  first: Nullable.Text,
  sums: Type.Integer(),
  groups: Type.Integer(),
});

const findDensityStatements = forSources((source) => {
  const { suffix, table, where } = source(5);
  return defineStatement(
    `billing_revenue_find_density${suffix}`,
    Density,
    `select (select to_char(min(month), 'YYYY-MM') from ${table} where ${where}) as first, count(*)::integer as sums,
          count(distinct (case when $1::boolean then product_id end, case when $2::boolean then country end,
                          case when $3::boolean then provider end, currency))::integer as groups
   from ${table} where ${where} and month = (select max(month) from ${table} where ${where} and month <= $4::date)`,
  );
});

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
  const { statement, dividedBy } = selectSource(findDensityStatements, by);
  const dimensions = [by.has('product'), by.has('country'), by.has('provider')];
  const density = await queryRow(db, statement, [...dimensions, toDate(until), ...dividedBy]);
  return density ?? { first: null, sums: 0, groups: 0 };
}

const FoundMonth = Type.Object({ month: Nullable.Text });

const findMonthStatements = forSources((source) => {
  const { suffix, table, where } = source(4);
  return defineStatement(
    `billing_revenue_find_month${suffix}`,
    FoundMonth,
    `select case when count(*) = $3 then to_char(max(month), 'YYYY-MM') end as month from (
     select month from ${table} where ${where} and month >= $1::date and month <= $2::date order by month limit $3::integer
   ) as listed`,
  );
});

/** Finds the month in which the number of stored sums since another month reaches a limit; null: it does not. */
export async function findMonthOfSums(
  db: Queryable,
  { by, from, until }: Pick<RevenueRange, 'by' | 'from' | 'until'>,
  limit: number,
): Promise<string | null> {
  const { statement, dividedBy } = selectSource(findMonthStatements, by);
  const row = await queryRow(db, statement, [toDate(from), toDate(until), limit, ...dividedBy]);
  return row?.month ?? null;
}
