/** The payments, refunds and disputes of purchases, and their totals. */
import { isTestSource, type CustomerMoney, type CustomerTotal } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { ApplyDependencies } from './dependencies.ts';
import type { AdjustmentFact } from './facts.ts';
import { findPurchases } from './find-purchases.ts';
import { listBilledLines, type TransactionKey } from './queries/purchases.ts';
import type { Purchase } from './rules/group-purchases.ts';
import type { MergedPayment } from './rules/merge-versions.ts';
import { listTransactions, type BilledLine, type SoldCatalog } from './rules/plan-licenses.ts';
import { withRepairs } from './rules/repairs.ts';
import { kindOf, nameProducts, reportAmount, type FactInPurchase } from './rules/report-fact.ts';
import { computeRevenue, listSeparatePayments } from './rules/revenue/compute-revenue.ts';
import { addEntries, type RevenueSum } from './rules/revenue/measures.ts';
import { listLines } from './rules/revenue/payment-parts.ts';
import { summarizeRevenue } from './rules/revenue/summarize-revenue.ts';

/** The newest ones are listed; totals have all. */
const MAX_LISTED = 1_000;

/** The payments of purchases. */
export interface PurchasePayments {
  /** Newest first. */
  readonly payments: CustomerMoney[];
  /** Of real payments, a row for each currency. */
  readonly totals: CustomerTotal[];
}

/** Lists what was paid and paid back in the purchases of transactions; the same money that two events report is listed once. */
export async function listPurchasePayments(
  deps: Pick<ApplyDependencies, 'catalog'> & { readonly pool: Pool },
  transactions: readonly TransactionKey[],
): Promise<PurchasePayments> {
  if (transactions.length === 0) return { payments: [], totals: [] };
  const references = transactions.map(({ provider, transactionId: id }) => ({
    provider,
    kind: 'transaction' as const,
    id,
  }));
  const purchases = await findPurchases(deps, deps.pool, references);
  const lines = await listBilledLines(deps.pool, purchases.flatMap(listTransactions));
  const payments = purchases.flatMap((purchase) => listMoney(purchase, lines, deps.catalog()));
  const sorted = payments.sort((a, b) => (a.occurred_at < b.occurred_at ? 1 : -1));
  return { payments: sorted.slice(0, MAX_LISTED), totals: addUp(purchases) };
}

function listMoney(
  purchase: Purchase,
  lines: readonly BilledLine[],
  catalog: SoldCatalog & { readonly products: ReadonlyMap<string, { readonly name: string }> },
): CustomerMoney[] {
  const { facts } = purchase;
  const sold = listSold(purchase, lines);
  const names = { products: catalog.products, findPrice: withRepairs(catalog, facts).findPrice };
  return listSeparatePayments(facts).flatMap((payment) => {
    const products = nameProducts(facts.provider, listLines(facts, payment), sold, names);
    const common = { provider: facts.provider, products, country: payment.country ?? null };
    const own = facts.adjustments.filter(
      ({ transactionId, effect }) => transactionId === payment.transactionId && effect !== 'none',
    );
    return [payment, ...own].map((fact) => ({
      ...common,
      ...viewMoney(fact, payment, facts.provider),
    }));
  });
}

function viewMoney(
  fact: MergedPayment | AdjustmentFact,
  payment: MergedPayment,
  provider: Purchase['facts']['provider'],
) {
  return {
    kind: kindOf(fact),
    transaction_id: payment.transactionId,
    subscription_id: payment.subscriptionId,
    occurred_at: fact.occurredAt.toISOString(),
    status: fact.kind === 'adjustment' ? fact.status : null,
    ...reportAmount(provider, fact, payment),
    reported: fact.reported ?? null,
  };
}

function listSold(purchase: Purchase, lines: readonly BilledLine[]): FactInPurchase['sold'] {
  const own = new Set(listTransactions(purchase).map(nameTransaction));
  return lines.filter((line) => own.has(nameTransaction(line))).flatMap(({ sales }) => sales ?? []);
}

function nameTransaction({ provider, transactionId }: TransactionKey): string {
  return `${provider} ${transactionId}`;
}

/** Adds up as the report of revenue does. */
function addUp(purchases: readonly Purchase[]): CustomerTotal[] {
  const real = purchases.filter(({ facts }) => !isTestSource(facts.provider));
  const sums = new Map<string, RevenueSum>();
  for (const purchase of real)
    addEntries(
      sums,
      computeRevenue(purchase, () => ''),
      1,
    );
  const all = [...sums.values()].map(({ key, measures }) => ({
    ...key,
    ...measures,
    month: key.day.slice(0, 7),
  }));
  const grouping = { by: new Set<never>(), from: '', to: '', conversion: null };
  return summarizeRevenue(all, grouping)
    .filter(({ payments }) => payments > 0)
    .map(({ currency, decimals, payments, gross, tax, refunds, disputes, net }) => ({
      currency,
      decimals,
      payments,
      gross,
      tax,
      refunds,
      disputes,
      net,
    }));
}
