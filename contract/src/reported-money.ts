/** What a payment event reports, as operators see it. */
import { type Static, Type } from 'typebox';

import { dateTime, nullable, nullableString, oneOf, ref } from './schema.ts';

/**
 * What happened. `payment`: money for which no license depends; `adjustment`: a credit or another change without effect on
 * licenses; `dispute`: a chargeback, its warning, or its reversal.
 */
const REPORTED_KINDS = [
  'purchase',
  'renewal',
  'change',
  'payment',
  'refund',
  'dispute',
  'adjustment',
  'subscription',
  'customer',
] as const;
export type ReportedKind = (typeof REPORTED_KINDS)[number];

const reportedKind = oneOf(REPORTED_KINDS, { examples: ['renewal'] });

const amount = (description: string) =>
  nullable(Type.Unsafe<number>({ type: 'number', description, examples: [4_900] }));

const ReportedProduct = Type.Object(
  {
    product_id: nullableString({
      description: 'As it was sold, else by the catalogue; null: unknown.',
      examples: ['personal'],
    }),
    name: nullableString({
      description: 'In the catalogue; null: the catalogue does not have it.',
      examples: ['Personal'],
    }),
    price_id: nullableString({
      description: "The provider's price of the line; null: the payment has no line for it.",
      examples: ['pri_01hv0vax6rv18t4tamj848ne4d'],
    }),
  },
  { description: 'A product that was paid for.' },
);

/** The fields about money and goods that events and payments of a customer share. */
const reportedMoney = {
  products: Type.Array(ReportedProduct, { description: 'At most 20.' }),
  amount: amount(
    'What was paid or paid back, tax included, in the smallest unit of the currency by the rule of the provider.',
  ),
  amount_text: nullableString({
    description: 'The amount as a decimal number; null without an amount or a currency.',
    examples: ['49.00'],
  }),
  tax: amount('Of the amount; null: not reported.'),
  currency: nullableString({ description: 'The code of ISO 4217.', examples: ['EUR'] }),
  decimals: nullable(
    Type.Unsafe<number>({
      type: 'integer',
      description: 'Of the amount and the tax: 4900 with two decimals is 49.00.',
      examples: [2],
    }),
  ),
  country: nullableString({
    description: 'Of the buyer (ISO 3166-1), if the provider reports it.',
    examples: ['DE'],
  }),
  reported: nullableString({
    description: "The provider's own word for the origin, the status or the action.",
    examples: ['subscription_cycle'],
  }),
};

/** What an event reports; a kind of null: it has no stored fact. */
export const reportedFields = {
  kind: nullable(reportedKind),
  customer_name: nullableString({ examples: ['Ada Lovelace'] }),
  customer_email: nullableString({ examples: ['ada@example.com'] }),
  ...reportedMoney,
};

const Reported = Type.Object(reportedFields);
export type Reported = Static<typeof Reported>;

const CustomerMoney = Type.Object(
  {
    kind: reportedKind,
    provider: Type.String({ examples: ['paddle'] }),
    transaction_id: Type.String({
      description: 'Of a refund or dispute: the payment that it is about.',
      examples: ['txn_01hv8wptq8987qeep44cyrewp9'],
    }),
    subscription_id: nullableString({ examples: ['sub_01hv8x29kz0t586xy6zn1a62ny'] }),
    occurred_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
    status: nullableString({
      description: 'Of a refund or dispute: `pending`, `approved`, `rejected` or `reversed`.',
      examples: ['approved'],
    }),
    ...reportedMoney,
  },
  { $id: 'CustomerMoney', description: 'A payment, a refund or a dispute of a customer.' },
);
export type CustomerMoney = Static<typeof CustomerMoney>;

const sum = (description: string) =>
  Type.Unsafe<number>({ type: 'number', description, examples: [4_900] });

const CustomerTotal = Type.Object(
  {
    currency: nullableString({ description: 'Null: not reported.', examples: ['EUR'] }),
    decimals: Type.Integer({ description: 'Of all amounts.', examples: [2] }),
    payments: Type.Integer({ examples: [1] }),
    gross: sum('What was paid, tax included.'),
    tax: sum('Of the gross.'),
    refunds: sum('What was refunded, tax included.'),
    disputes: sum('What open chargebacks deduct, tax included.'),
    net: sum('Gross without tax, refunds and disputes.'),
  },
  { $id: 'CustomerTotal', description: 'Totals of a currency, as in the report of revenue.' },
);
export type CustomerTotal = Static<typeof CustomerTotal>;

export const CustomerPayments = Type.Object(
  {
    payments: Type.Array(ref(CustomerMoney), {
      description: 'Payments, refunds and disputes, the newest first; at most 1,000.',
    }),
    totals: Type.Array(ref(CustomerTotal), {
      description: 'A row for each currency, without test modes.',
    }),
    is_complete: Type.Boolean({
      description: 'False: the customer has more payments, which are not counted here.',
    }),
  },
  { $id: 'CustomerPayments' },
);
export type CustomerPayments = Static<typeof CustomerPayments>;
