/** Counts purchases into the roll-ups of revenue. */
import { isTestSource } from '@latchkey/contract';

import type { Queryable } from '#server/db/statement.ts';

import { findPurchases } from './find-purchases.ts';
import type { ApplyDependencies } from './dependencies.ts';
import { listBilledLines, type LedgerReference, type TransactionKey } from './queries/purchases.ts';
import { listAssignedPrices } from './queries/repairs.ts';
import {
  addRevenueDays,
  addRevenueMonths,
  listStoredRevenue,
  readEntries,
  storeRevenue,
  writeEntries,
  type StoredRevenue,
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

/**
 * Replaces what purchases add to revenue, by all of their facts. Counting them again changes nothing.
 * @param client in a transaction that has the lock of revenue
 */
export async function countPurchases(
  deps: Pick<ApplyDependencies, 'catalog'>,
  client: Queryable,
  references: readonly LedgerReference[],
): Promise<void> {
  const real = references.filter(({ provider }) => !isTestSource(provider));
  if (real.length === 0) return;
  const purchases = await findPurchases(deps, client, real);
  const transactions = uniqueTransactions(purchases.flatMap(listTransactions));
  const lines = Map.groupBy(await listBilledLines(client, transactions), nameTransaction);
  const catalog = withAssignedPrices(deps.catalog(), await listAssignedPrices(client));
  const entries = purchases.flatMap((purchase) =>
    computeRevenue(purchase, createProductNamer(purchase, lines, catalog)),
  );
  const payments = purchases.flatMap(({ facts: { provider, payments: own } }) =>
    own.map(({ transactionId }) => nameTransaction({ provider, transactionId })),
  );
  await replaceEntries(client, { transactions, payments: new Set(payments), entries });
}

function uniqueTransactions(transactions: readonly TransactionKey[]): TransactionKey[] {
  return [...new Map(transactions.map((each) => [nameTransaction(each), each])).values()];
}

/** Names products as they were sold, else by the catalogue. */
function createProductNamer(
  purchase: Purchase,
  lines: ReadonlyMap<string, readonly BilledLine[]>,
  catalog: SoldCatalog,
): (priceId: string) => string {
  const { facts } = purchase;
  const sales = listTransactions(purchase)
    .flatMap((transaction) => lines.get(nameTransaction(transaction)) ?? [])
    .flatMap((line) => line.sales ?? []);
  const sold = new Map(sales.map(({ priceId, productId }) => [priceId, productId]));
  const { findPrice, findUpdatesPrice } = withRepairs(catalog, facts);
  return (priceId) =>
    sold.get(priceId) ??
    findPrice(facts.provider, priceId)?.id ??
    // What renews updates is sold for a product, and has no license.
    findUpdatesPrice?.(facts.provider, priceId)?.id ??
    sold.get('') ??
    '';
}

function nameTransaction({ provider, transactionId }: TransactionKey): string {
  return `${provider} ${transactionId}`;
}

interface Counted {
  /** All names of the payments, also those under which they were counted before. */
  readonly transactions: readonly TransactionKey[];
  /** The names of those that are payments: each is stored, also without entries. */
  readonly payments: ReadonlySet<string>;
  readonly entries: readonly RevenueEntry[];
}

async function replaceEntries(
  client: Queryable,
  { transactions, payments, entries }: Counted,
): Promise<void> {
  const stored = await listStoredRevenue(client, transactions);
  const before = new Map(stored.map((row) => [nameTransaction(row), row]));
  const after = Map.groupBy(entries, nameTransaction);
  const changed: StoredRevenue[] = [];
  const months = new Map<string, RevenueSum>();
  const days = new Map<string, RevenueSum>();
  for (const { provider, transactionId } of transactions) {
    const name = nameTransaction({ provider, transactionId });
    const row = before.get(name);
    const own = after.get(name) ?? [];
    const next = writeEntries(own);
    if (next === row?.entries || (row === undefined && !payments.has(name))) continue;
    changed.push({ provider, transactionId, entries: next });
    const old = row === undefined ? [] : readEntries(row);
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
