import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { RevenueSums } from '../rules/revenue/summarize-revenue.ts';

const Sums = Type.Object({
  month: Type.String(),
  provider: Type.String(),
  productId: Type.String(),
  country: Type.String(),
  currency: Type.String(),
  payments: Type.Number(),
  gross: Type.Number(),
  tax: Type.Number(),
  fees: Type.Number(),
  refunds: Type.Number(),
  refundedTax: Type.Number(),
  disputes: Type.Number(),
  disputedTax: Type.Number(),
  mrrNew: Type.Number(),
  mrrExpansion: Type.Number(),
  mrrContraction: Type.Number(),
  mrrLost: Type.Number(),
  mrrReactivated: Type.Number(),
  subscriptionsNew: Type.Number(),
  subscriptionsLost: Type.Number(),
  subscriptionsReactivated: Type.Number(),
});

const RECURRING = [
  'mrr_new as "mrrNew"',
  'mrr_expansion as "mrrExpansion"',
  'mrr_contraction as "mrrContraction"',
  'mrr_lost as "mrrLost"',
  'mrr_reactivated as "mrrReactivated"',
  'subscriptions_new as "subscriptionsNew"',
  'subscriptions_lost as "subscriptionsLost"',
  'subscriptions_reactivated as "subscriptionsReactivated"',
];

const MONEY = [
  'payments as "payments"',
  'gross as "gross"',
  'tax as "tax"',
  'fees as "fees"',
  'refunds as "refunds"',
  'refunded_tax as "refundedTax"',
  'disputes as "disputes"',
  'disputed_tax as "disputedTax"',
];

function sum(columns: readonly string[], sign = ''): string {
  return columns
    .map((column) => column.replace(/^\S+/u, (name) => `${sign}sum(${name})::float8`))
    .join(', ');
}

const KEYS = `provider, case when $1::boolean then product_id else '' end as "productId",
          case when $2::boolean then country else '' end as country, currency`;

/** Months before the first one are one, and so are the others if they are not asked for: fewer rows are validated, and times are formatted after the sums. */
function bucket(time: string): string {
  return `case when ${time} < $5::date then $5::date - 1 when $6::boolean then ${time} else $5::date end`;
}

/** Recurring revenue of a month that has not ended counts until today. */
const listStatement = defineStatement(
  'billing_revenue_report',
  Sums,
  `select to_char(time, 'YYYY-MM') as month, sums.* from (
   select ${bucket('month')} as time, ${KEYS}, ${sum(MONEY)}, ${sum(RECURRING)}
   from billing_revenue_months where month <= $3::date group by 1, 2, 3, 4, 5
   union all
   select ${bucket('day')}, ${KEYS}, ${MONEY.map(() => '0::float8').join(', ')}, ${sum(RECURRING, '-')}
   from billing_revenue_days
   where day > $4::date and day < $3::date + interval '1 month' group by 1, 2, 3, 4, 5) as sums`,
);

/** Lists the sums of all months until one, by provider and currency, and further by what is asked for. */
export async function listRevenueSums(
  db: Queryable,
  {
    byProduct,
    byCountry,
    byMonth,
    from,
    until,
    today,
  }: {
    readonly byProduct: boolean;
    readonly byCountry: boolean;
    readonly byMonth: boolean;
    /** The first day of the first month. */
    readonly from: string;
    /** The first day of the last month. */
    readonly until: string;
    readonly today: string;
  },
): Promise<RevenueSums[]> {
  return queryRows(db, listStatement, [byProduct, byCountry, until, today, from, byMonth]);
}
