import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import type { TransactionKey } from './purchases.ts';

const Backfill = Type.Object({
  transactionId: Type.String(),
  provider: Type.String(),
  counted: Type.Number(),
  finishedAt: Nullable.Timestamp,
});

const findBackfillStatement = defineStatement(
  'billing_revenue_find_backfill',
  Backfill,
  `select transaction_id as "transactionId", provider, counted::float8 as counted, finished_at as "finishedAt"
   from billing_revenue_backfill`,
);

/** How far payments from before the roll-up were counted. */
export interface RevenueBackfill extends TransactionKey {
  readonly counted: number;
  /** Null: it is not finished. */
  readonly finishedAt: Date | null;
}

/** Returns how far payments from before the roll-up were counted. */
export async function findRevenueBackfill(db: Queryable): Promise<RevenueBackfill | null> {
  return queryRow(db, findBackfillStatement);
}

const storeBackfillStatement = defineCommand(
  'billing_revenue_store_backfill',
  'update billing_revenue_backfill set transaction_id = $1, provider = $2, counted = $3, finished_at = $4',
);

export async function storeRevenueBackfill(
  db: Queryable,
  { transactionId, provider, counted, finishedAt }: RevenueBackfill,
): Promise<void> {
  await execute(db, storeBackfillStatement, [transactionId, provider, counted, finishedAt]);
}

const listPaymentsStatement = defineStatement(
  'billing_revenue_list_payments',
  Type.Object({ transactionId: Type.String(), provider: Type.String(), isCounted: Type.Boolean() }),
  `select transaction_id as "transactionId", provider,
          exists (select from billing_revenue stored
                  where stored.transaction_id = page.transaction_id and stored.provider = page.provider) as "isCounted"
   from (
     select distinct transaction_id, provider from (
       select transaction_id, provider from billing_payments
       where (transaction_id, provider) > ($1, $2) order by transaction_id, provider limit $3
     ) as listed
   ) as page
   order by transaction_id, provider`,
);

/** A payment, and whether its purchase is counted: all payments of a purchase are counted at once. */
export interface ListedPayment extends TransactionKey {
  readonly isCounted: boolean;
}

/** Lists payments by id. @param after the last one of the page before */
export async function listPaymentsAfter(
  db: Queryable,
  after: TransactionKey,
  limit: number,
): Promise<ListedPayment[]> {
  return queryRows(db, listPaymentsStatement, [after.transactionId, after.provider, limit]);
}

const countRemainingStatement = defineStatement(
  'billing_revenue_count_remaining',
  Type.Object({ remaining: Type.Integer() }),
  `select count(*)::integer as remaining from (
     select from billing_payments where (transaction_id, provider) > ($1, $2) order by transaction_id, provider limit $3
   ) as listed`,
);

/** Counts the payments from before the roll-up that are not counted yet. @param limit the highest number that is returned */
export async function countRemainingPayments(db: Queryable, limit: number): Promise<number> {
  const state = await findRevenueBackfill(db);
  if (state === null || state.finishedAt !== null) return 0;
  const parameters = [state.transactionId, state.provider, limit];
  return (await queryRow(db, countRemainingStatement, parameters))?.remaining ?? 0;
}
