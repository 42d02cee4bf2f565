import { type Static, Type } from 'typebox';

import { cursor } from './admin-list.ts';
import { csvFile, operation } from './operation.ts';
import { nullable, nullableString, ref, text } from './schema.ts';

/** What revenue can be divided by. */
export const REVENUE_DIMENSIONS = ['month', 'product', 'country', 'provider'] as const;

export type RevenueDimension = (typeof REVENUE_DIMENSIONS)[number];

const monthText = (description: string) =>
  Type.Optional(text({ description, maxLength: 7, examples: ['2027-03'] }));

const division = {
  from: monthText('The first month, in UTC; default: eleven months before the last one.'),
  to: monthText('The last month; default: the current one.'),
  by: Type.Optional(
    text({
      description:
        'What revenue is divided by: `month`, `product`, `country`, `provider`, separated by commas. Default: `month`.',
      maxLength: 40,
      examples: ['month,product'],
    }),
  ),
  currency: Type.Optional(
    text({
      description:
        'The code of ISO 4217 to which amounts are converted by `rates`; default: a row for each currency.',
      maxLength: 3,
      examples: ['EUR'],
    }),
  ),
  rates: Type.Optional(
    text({
      description:
        'What one unit of other currencies is worth in `currency`. A currency without a rate keeps its own rows.',
      maxLength: 2_000,
      examples: ['USD:0.92,GBP:1.17'],
    }),
  ),
};

const RevenueExportQuery = Type.Object(division, { additionalProperties: false });
export type RevenueExportQuery = Static<typeof RevenueExportQuery>;

const RevenueQuery = Type.Object({ ...division, cursor }, { additionalProperties: false });
export type RevenueQuery = Static<typeof RevenueQuery>;

const amount = (description: string) =>
  Type.Unsafe<number>({ type: 'number', description, examples: [4_900] });

const RevenueRow = Type.Object(
  {
    month: nullableString({ description: 'Null: not divided by month.', examples: ['2027-03'] }),
    product: nullableString({
      description: 'Null: not divided by product, or unknown.',
      examples: ['personal'],
    }),
    country: nullableString({
      description: 'The code of ISO 3166-1. Null: not divided by country, or unknown.',
      examples: ['DE'],
    }),
    provider: nullableString({
      description: 'Null: not divided by provider.',
      examples: ['paddle'],
    }),
    currency: nullableString({
      description: 'The code of ISO 4217; null: the provider did not report it.',
      examples: ['EUR'],
    }),
    decimals: Type.Integer({
      description: 'Of all amounts: 4900 with two decimals is 49.00.',
      examples: [2],
    }),
    payments: Type.Integer({ examples: [1] }),
    gross: amount('What was paid, tax included.'),
    tax: amount('Of the gross.'),
    refunds: amount('What was refunded in the month of the refund, tax included.'),
    refunded_tax: amount('Of the refunds.'),
    disputes: amount('What open chargebacks deduct, tax included.'),
    disputed_tax: amount('Of the disputes.'),
    net: amount('Gross without tax, refunds and disputes.'),
    fees: amount('What providers kept, as far as they report it; contained in net.'),
    mrr: amount('Monthly recurring revenue at the end of the month, or now.'),
    mrr_new: amount('Of subscriptions that began.'),
    mrr_reactivated: amount('Of subscriptions that began again.'),
    mrr_expansion: amount('Of subscriptions that became more.'),
    mrr_contraction: amount('Of subscriptions that became less; not above 0.'),
    mrr_lost: amount('Of subscriptions that ended; not above 0.'),
    subscriptions: Type.Integer({ description: 'Running at the end of the month, or now.' }),
    subscriptions_new: Type.Integer(),
    subscriptions_lost: Type.Integer(),
  },
  { $id: 'RevenueRow' },
);
export type RevenueRow = Static<typeof RevenueRow>;

const Revenue = Type.Object(
  {
    rows: Type.Array(ref(RevenueRow)),
    pending: Type.Integer({
      description:
        'Reports of payments that are not counted yet, at most 1,000; they are within seconds.',
      examples: [0],
    }),
    backfill: nullable(
      Type.Unsafe<number>({
        type: 'integer',
        description:
          'How many payments from before an upgrade are counted by now; null: all of them.',
      }),
    ),
    next_cursor: nullableString({
      description: 'The `cursor` of the next page; null on the last one.',
    }),
  },
  { $id: 'Revenue' },
);
export type Revenue = Static<typeof Revenue>;

export const showRevenue = operation({
  id: 'showRevenue',
  method: 'GET',
  path: 'revenue',
  summary: 'Show revenue by month, product, country or provider',
  description:
    'Currencies are never added without a rate. Test modes are not counted. A page has at most 1,000 rows, by their names, and may have fewer: continue until `next_cursor` is null.',
  permission: 'revenue:read',
  query: RevenueQuery,
  response: ref(Revenue, 'The revenue, a row for each group and currency.'),
});

export const exportRevenue = operation({
  id: 'exportRevenue',
  method: 'GET',
  path: 'revenue/export',
  summary: 'Export revenue as CSV',
  permission: 'revenue:read',
  query: RevenueExportQuery,
  response: csvFile('One line for each row, amounts as decimal numbers.'),
});
