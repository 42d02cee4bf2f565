/** Counts payments into the roll-ups of revenue: purchases with new facts, and those from before the roll-up. */
import { isTestSource } from '@latchkey/contract';

import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { findPurchases } from './find-purchases.ts';
import type { ApplyDependencies } from './dependencies.ts';
import { listBilledLines, type LedgerReference, type TransactionKey } from './queries/purchases.ts';
import { listAssignedPrices } from './queries/repairs.ts';
import {
  addRevenueDays,
  addRevenueMonths,
  clearRevenue,
  findRevenueBackfill,
  listPaymentsAfter,
  listStoredRevenue,
  lockRevenue,
  readEntries,
  storeRevenue,
  storeRevenueBackfill,
  takeRevenueDue,
  writeEntries,
} from './queries/revenue.ts';
import type { Purchase } from './rules/group-purchases.ts';
import { listTransactions, type BilledLine, type SoldCatalog } from './rules/plan-licenses.ts';
import { withAssignedPrices, withRepairs } from './rules/repairs.ts';
import { computeRevenue } from './rules/revenue/compute-revenue.ts';
import {
  addEntries,
  MEASURES,
  type RevenueEntry,
  type RevenueSum,
} from './rules/revenue/measures.ts';

type RollUpDependencies = Pick<ApplyDependencies, 'pool' | 'catalog' | 'clock'>;

/** Purchases in a transaction. */
const PAGE_SIZE = 200;

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
 * @param onProgress called with the number of counted payments after each page
 * @returns whether all are counted
 */
export async function backfillRevenue(
  deps: RollUpDependencies,
  {
    signal,
    maxPages = Number.POSITIVE_INFINITY,
    onProgress,
  }: {
    readonly signal?: AbortSignal;
    readonly maxPages?: number;
    readonly onProgress?: (counted: number) => void;
  } = {},
): Promise<boolean> {
  for (let page = 0; page < maxPages; page += 1) {
    if (signal?.aborted === true) return false;
    const state = await inTransaction(deps.pool, (client) => backfillPage(deps, client));
    onProgress?.(state.counted);
    if (state.isFinished) return true;
  }
  return false;
}

async function backfillPage(
  deps: RollUpDependencies,
  client: Queryable,
): Promise<{ readonly counted: number; readonly isFinished: boolean }> {
  await lockRevenue(client);
  const state = await findRevenueBackfill(client);
  if (state === null || state.finishedAt !== null) {
    return { counted: state?.counted ?? 0, isFinished: true };
  }
  const payments = await listPaymentsAfter(client, state, PAGE_SIZE);
  const last = payments.at(-1);
  const references = payments.map(toReference);
  if (references.length > 0) await countPurchases(deps, client, references);
  const counted = state.counted + payments.length;
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

/** Replaces what purchases add to revenue, by all of their facts. Counting them again changes nothing. */
async function countPurchases(
  deps: RollUpDependencies,
  client: Queryable,
  references: readonly LedgerReference[],
): Promise<void> {
  const real = references.filter(({ provider }) => !isTestSource(provider));
  if (real.length === 0) return;
  const purchases = await findPurchases(deps, client, real);
  const transactions = purchases.flatMap(listTransactions);
  const lines = await listBilledLines(client, transactions);
  const catalog = withAssignedPrices(deps.catalog(), await listAssignedPrices(client));
  const entries = purchases.flatMap((purchase) =>
    computeRevenue(purchase, createProductNamer(purchase, lines, catalog)),
  );
  await replaceEntries(client, transactions, entries);
}

/** Names products as they were sold, else by the catalogue. */
function createProductNamer(
  { facts }: Purchase,
  lines: readonly BilledLine[],
  catalog: SoldCatalog,
): (priceId: string) => string {
  const own = new Set(listTransactions({ facts, eventIds: new Set() }).map(nameTransaction));
  const sales = lines
    .filter((line) => own.has(nameTransaction(line)))
    .flatMap((line) => line.sales ?? []);
  const sold = new Map(sales.map(({ priceId, productId }) => [priceId, productId]));
  const { findPrice } = withRepairs(catalog, facts);
  return (priceId) =>
    sold.get(priceId) ?? findPrice(facts.provider, priceId)?.id ?? sold.get('') ?? '';
}

function nameTransaction({ provider, transactionId }: TransactionKey): string {
  return `${provider} ${transactionId}`;
}

async function replaceEntries(
  client: Queryable,
  transactions: readonly TransactionKey[],
  entries: readonly RevenueEntry[],
): Promise<void> {
  const stored = await listStoredRevenue(client, transactions);
  const before = new Map(stored.map((row) => [nameTransaction(row), row]));
  const after = Map.groupBy(entries, nameTransaction);
  const months = new Map<string, RevenueSum>();
  const days = new Map<string, RevenueSum>();
  const changed = [];
  for (const { provider, transactionId } of new Map(
    transactions.map((each) => [nameTransaction(each), each]),
  ).values()) {
    const name = nameTransaction({ provider, transactionId });
    const own = after.get(name) ?? [];
    const row = before.get(name);
    const old = row === undefined ? [] : readEntries(row);
    const next = writeEntries(own);
    if (next === writeEntries(old)) continue;
    changed.push({ provider, transactionId, entries: next });
    for (const [list, sign] of [
      [old, -1],
      [own, 1],
    ] as const) {
      addEntries(months, list, sign, (day) => `${day.slice(0, 7)}-01`);
      addEntries(days, list, sign);
    }
  }
  if (changed.length === 0) return;
  await storeRevenue(client, changed);
  await addRevenueMonths(client, listChanged(months));
  await addRevenueDays(client, listChanged(days));
}

/** Sorted, as every batch of rows that is locked. */
function listChanged(sums: ReadonlyMap<string, RevenueSum>): RevenueSum[] {
  return [...sums]
    .filter(([, { measures }]) => MEASURES.some((measure) => measures[measure] !== 0))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, sum]) => sum);
}
