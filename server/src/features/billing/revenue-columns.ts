import { writeAmount, type RevenueRow } from '@latchkey/contract';

import type { CsvColumns } from '#server/lib/csv.ts';

const amountOf =
  (read: (row: RevenueRow) => number) =>
  (row: RevenueRow): number =>
    Number(writeAmount(read(row), row.decimals));

/** Amounts are decimal numbers. */
export const REVENUE_COLUMNS: CsvColumns<RevenueRow> = {
  month: (row) => row.month,
  product: (row) => row.product,
  country: (row) => row.country,
  provider: (row) => row.provider,
  currency: (row) => row.currency,
  payments: (row) => row.payments,
  gross: amountOf((row) => row.gross),
  tax: amountOf((row) => row.tax),
  refunds: amountOf((row) => row.refunds),
  refunded_tax: amountOf((row) => row.refunded_tax),
  disputes: amountOf((row) => row.disputes),
  disputed_tax: amountOf((row) => row.disputed_tax),
  net: amountOf((row) => row.net),
  fees: amountOf((row) => row.fees),
  mrr: amountOf((row) => row.mrr),
  mrr_new: amountOf((row) => row.mrr_new),
  mrr_reactivated: amountOf((row) => row.mrr_reactivated),
  mrr_expansion: amountOf((row) => row.mrr_expansion),
  mrr_contraction: amountOf((row) => row.mrr_contraction),
  mrr_lost: amountOf((row) => row.mrr_lost),
  subscriptions: (row) => row.subscriptions,
  subscriptions_new: (row) => row.subscriptions_new,
  subscriptions_lost: (row) => row.subscriptions_lost,
};
