/** Counts payments into the roll-ups of revenue: purchases with new facts, and those from before the roll-up. */
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { countPurchases } from './count-revenue.ts';
import type { ApplyDependencies } from './dependencies.ts';
import type { LedgerReference, TransactionKey } from './queries/purchases.ts';
import {
  findRevenueBackfill,
  listPaymentsAfter,
  storeRevenueBackfill,
} from './queries/revenue-backfill.ts';
import { takeRevenueDue } from './queries/revenue-due.ts';
import { clearRevenue, lockRevenue } from './queries/revenue.ts';

type RollUpDependencies = Pick<ApplyDependencies, 'pool' | 'catalog' | 'clock'>;

/** Purchases in a transaction. */
const PAGE_SIZE = 200;

/** Payments that the backfill looks at for each of these: most are counted already, with another payment of their subscription. */
const PAYMENTS_OF_A_PURCHASE = 5;

/** Counts purchases with new facts, until there are none. @returns how many marks were taken */
export async function rollUpDueRevenue(
  deps: RollUpDependencies,
  signal?: AbortSignal,
): Promise<number> {
  for (let taken = 0; ;) {
    if (signal?.aborted === true) return taken;
    const count = await inTransaction(deps.pool, async (client) => {
      await lockRevenue(client);
      const due = await takeRevenueDue(client, PAGE_SIZE);
      if (due.length > 0) await countPurchases(deps, client, due);
      return due.length;
    });
    taken += count;
    if (count < PAGE_SIZE) return taken;
  }
}

/**
 * Counts the payments from before the roll-up, page by page; a call continues where the last one ended.
 * @param maxPages default: all
 * @param pageSize purchases in a transaction
 * @param onProgress called with the number of counted payments after each page
 * @returns whether all are counted
 */
export async function backfillRevenue(
  deps: RollUpDependencies,
  {
    signal,
    maxPages = Number.POSITIVE_INFINITY,
    pageSize = PAGE_SIZE,
    onProgress,
  }: {
    readonly signal?: AbortSignal;
    readonly maxPages?: number;
    readonly pageSize?: number;
    readonly onProgress?: (counted: number) => void;
  } = {},
): Promise<boolean> {
  for (let page = 0; page < maxPages; page += 1) {
    if (signal?.aborted === true) return false;
    const state = await inTransaction(deps.pool, (client) => backfillPage(deps, client, pageSize));
    onProgress?.(state.counted);
    if (state.isFinished) return true;
  }
  return false;
}

async function backfillPage(
  deps: RollUpDependencies,
  client: Queryable,
  pageSize: number,
): Promise<{ readonly counted: number; readonly isFinished: boolean }> {
  await lockRevenue(client);
  const state = await findRevenueBackfill(client);
  if (state === null || state.finishedAt !== null) {
    return { counted: state?.counted ?? 0, isFinished: true };
  }
  const listed = await listPaymentsAfter(client, state, PAYMENTS_OF_A_PURCHASE * pageSize);
  const due = listed.filter(({ isCounted }) => !isCounted).slice(0, pageSize);
  const last = due.length < pageSize ? listed.at(-1) : due.at(-1);
  const passed = last === undefined ? 0 : listed.indexOf(last) + 1;
  if (due.length > 0) await countPurchases(deps, client, due.map(toReference));
  const counted = state.counted + passed;
  const finishedAt = last === undefined ? deps.clock.now() : null;
  await storeRevenueBackfill(client, { ...(last ?? state), counted, finishedAt });
  return { counted, isFinished: last === undefined };
}

function toReference({ provider, transactionId: id }: TransactionKey): LedgerReference {
  return { provider, kind: 'transaction', id };
}

/** Deletes the roll-up and starts to count all payments anew; {@link backfillRevenue} does it. */
export async function restartRevenue(
  { pool, clock }: RollUpDependencies,
  { actor, reason }: { readonly actor: string; readonly reason: string },
): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockRevenue(client);
    await clearRevenue(client);
    const start = { transactionId: '', provider: '', counted: 0, finishedAt: null };
    await storeRevenueBackfill(client, start);
    await insertAuditEntry(client, {
      occurredAt: clock.now(),
      actor,
      reason,
      action: 'webhook.rebuild_revenue',
      subjectId: 'webhooks',
      details: {},
    });
  });
}
