import type { Product } from '#server/config/catalog-model.ts';

import type { BillingProvider } from '../facts.ts';
import { computeLicenses } from './compute-licenses.ts';
import type { Purchase } from './group-purchases.ts';
import type { LicenseDraft } from './compute-licenses.ts';
import { UNMATCHED_PREFIX } from './event-state.ts';

/** A line of a checkout and the license that was created for it. */
export interface BilledLine {
  readonly provider: string;
  readonly transactionId: string;
  readonly lineKey: string;
  readonly licenseId: string;
}

/** The terms of the product that a line sells. */
interface SoldTerms {
  readonly productId: string;
  readonly tier: string;
  readonly features: readonly string[];
  readonly maxActivations: number;
}

/** A license to create. */
export interface MissingLicense {
  readonly purchase: Purchase;
  readonly draft: LicenseDraft;
  readonly terms: SoldTerms;
}

/** An existing license and its new state. */
export interface ExistingLicense {
  readonly purchase: Purchase;
  readonly draft: LicenseDraft;
  /** Null: unchanged, because the catalogue no longer has the price of the line. */
  readonly terms: SoldTerms | null;
  /** As recorded at creation; its transaction may differ from that of the draft. */
  readonly line: BilledLine;
}

/** A license whose line no longer exists, because two purchases turned out to be one. */
export interface OrphanedLicense {
  readonly purchase: Purchase;
  readonly line: BilledLine;
}

/** A purchase none of whose prices is in the catalogue; `reason` is a sentence for operators. */
export interface UnmatchedPurchase {
  readonly purchase: Purchase;
  readonly reason: string;
}

/** The changes that bring the licenses of purchases up to date. */
export interface LicensePlans {
  readonly missing: readonly MissingLicense[];
  readonly existing: readonly ExistingLicense[];
  readonly orphaned: readonly OrphanedLicense[];
  readonly unmatched: readonly UnmatchedPurchase[];
}

/** Fits into an integer of PostgreSQL. */
const MAX_ACTIVATIONS = 1_000_000_000;

/**
 * Compares the licenses that purchases should have with those that exist.
 * @param lines of the transactions that {@link listTransactions} returns, oldest first
 */
export function planLicenses(
  purchases: readonly Purchase[],
  lines: readonly BilledLine[],
  findProduct: (provider: BillingProvider, priceId: string) => Product | null,
): LicensePlans {
  const linesOf = Map.groupBy(lines, toTransactionName);
  const plans = purchases.map((purchase) => {
    const { provider } = purchase.facts;
    const drafts = computeLicenses(purchase.facts, (priceId) => findProduct(provider, priceId));
    const own = listTransactions(purchase).flatMap(
      (each) => linesOf.get(toTransactionName(each)) ?? [],
    );
    return planPurchase(purchase, drafts, own);
  });
  return {
    missing: plans.flatMap(({ missing }) => missing),
    existing: plans.flatMap(({ existing }) => existing),
    orphaned: plans.flatMap(({ orphaned }) => orphaned),
    unmatched: plans.flatMap(({ unmatched }) => unmatched),
  };
}

/** Returns every transaction of a purchase: a license may have been created under any of them, before later events arrived. */
export function listTransactions({
  facts,
}: Purchase): Pick<BilledLine, 'provider' | 'transactionId'>[] {
  const ids = [
    ...facts.payments.flatMap(({ transactionId, aliases = [] }) => [transactionId, ...aliases]),
    ...facts.snapshots.map(({ transactionId }) => transactionId),
  ];
  return [...new Set(ids)].flatMap((transactionId) =>
    transactionId === null ? [] : [{ provider: facts.provider, transactionId }],
  );
}

function planPurchase(
  purchase: Purchase,
  drafts: readonly LicenseDraft[],
  lines: readonly BilledLine[],
): LicensePlans {
  const missing: MissingLicense[] = [];
  const existing: ExistingLicense[] = [];
  for (const draft of drafts) {
    const line = findLine(lines, draft);
    const terms = readTerms(draft);
    if (line !== null) existing.push({ purchase, draft, terms, line });
    else if (terms !== null) missing.push({ purchase, draft, terms });
  }
  const kept = new Set(existing.map(({ line }) => line));
  const orphaned = lines.filter((line) => !kept.has(line)).map((line) => ({ purchase, line }));
  const isUnmatched = drafts.length > 0 && existing.length + missing.length === 0;
  const unmatched = isUnmatched ? [{ purchase, reason: explainUnmatched(drafts) }] : [];
  return { missing, existing, orphaned, unmatched };
}

function findLine(lines: readonly BilledLine[], draft: LicenseDraft): BilledLine | null {
  const ofLine = lines.filter(({ lineKey }) => lineKey === draft.lineKey);
  const own = ofLine.find(({ transactionId }) => transactionId === draft.transactionId);
  return own ?? ofLine[0] ?? null;
}

function readTerms({ product, quantity }: LicenseDraft): SoldTerms | null {
  if (product === null) return null;
  const machines = product.maxActivations * Math.max(1, Math.floor(quantity));
  return {
    productId: product.id,
    tier: product.tier,
    features: product.features,
    maxActivations: Math.min(machines, MAX_ACTIVATIONS),
  };
}

function explainUnmatched(drafts: readonly LicenseDraft[]): string {
  const prices = [...new Set(drafts.map(({ priceId }) => priceId))].slice(0, 5).join(', ');
  return `${UNMATCHED_PREFIX}${prices}.`;
}

function toTransactionName({
  provider,
  transactionId,
}: Pick<BilledLine, 'provider' | 'transactionId'>): string {
  return `${provider} ${transactionId}`;
}
