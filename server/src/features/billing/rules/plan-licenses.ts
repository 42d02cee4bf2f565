import type { Product } from '#server/config/catalog-model.ts';

import type { BillingProvider } from '../facts.ts';
import { computeLicenses, nameSubscription, type LicenseDraft } from './compute-licenses.ts';
import { explainPrices, findProblems, type Problem } from './find-problems.ts';
import type { Purchase } from './group-purchases.ts';
import { computeIssued, withRepairs } from './repairs.ts';
import { createSaleFinder, type SaleFinder, type Sale } from './find-sale.ts';

/** A line of a checkout and the license that was created for it. */
export interface BilledLine {
  readonly provider: string;
  readonly transactionId: string;
  readonly lineKey: string;
  readonly licenseId: string;
  /** What was sold with the license: an entry for each of its prices. Default: none. */
  readonly sales?: readonly Sale[];
}

/** A license from elsewhere that has a name of a purchase, and no line yet. */
export interface AdoptableLicense {
  readonly provider: string;
  readonly licenseId: string;
  /** The transaction or subscription that names it, or the start of the period that follows its end. */
  readonly kind: 'transaction' | 'subscription' | 'renewal';
  readonly name: string;
  readonly productId: string;
  readonly maxActivations: number;
  readonly subscription: boolean;
  readonly expiresAt: Date | null;
  readonly customerEmail: string | null;
}

/** The products and prices on sale. */
export interface SoldCatalog {
  readonly findPrice: (provider: BillingProvider, priceId: string) => Product | null;
  /** Default: no bundles. */
  readonly listBundled?: (provider: BillingProvider, priceId: string) => readonly string[];
  readonly products: ReadonlyMap<string, Product>;
}

/** The terms of the product that a line sells; null: as stored with the license. */
interface SoldTerms {
  readonly productId: string;
  readonly tier: string | null;
  readonly features: readonly string[] | null;
  readonly maxActivations: number;
}

/** A license to create. */
export interface MissingLicense {
  readonly purchase: Purchase;
  readonly draft: LicenseDraft;
  readonly terms: SoldTerms & { readonly tier: string; readonly features: readonly string[] };
}

/** An existing license and its new state. */
export interface ExistingLicense {
  readonly purchase: Purchase;
  readonly draft: LicenseDraft;
  /** Null: unchanged, because the catalogue no longer has the price of the line. */
  readonly terms: SoldTerms | null;
  /** As recorded at creation; its transaction may differ from that of the draft. */
  readonly line: BilledLine;
  /** What an adopted license was sold as, elsewhere; absent: it has its line already. */
  readonly adopted?: AdoptableLicense;
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
  /** Payments that do not have all of their licenses, in other purchases. */
  readonly problems: readonly PurchaseProblem[];
}

/** A problem of a payment. */
export interface PurchaseProblem extends Problem {
  readonly purchase: Purchase;
}

/** Fits into an integer of PostgreSQL. */
const MAX_ACTIVATIONS = 1_000_000_000;

/**
 * Compares the licenses that purchases should have with those that exist.
 * @param lines of the transactions that {@link listTransactions} returns, oldest first
 * @param adoptable licenses that have a name of {@link listNames}, oldest first
 */
export function planLicenses(
  purchases: readonly Purchase[],
  lines: readonly BilledLine[],
  catalog: SoldCatalog,
  adoptable: readonly AdoptableLicense[] = [],
): LicensePlans {
  const linesOf = Map.groupBy(lines, toTransactionName);
  const plans = purchases.map((purchase) => {
    const own = listTransactions(purchase).flatMap(
      (each) => linesOf.get(toTransactionName(each)) ?? [],
    );
    const repaired = withRepairs(catalog, purchase.facts);
    return planPurchase(purchase, own, createSaleFinder(purchase, own, repaired, adoptable));
  });
  return {
    missing: plans.flatMap(({ missing }) => missing),
    existing: plans.flatMap(({ existing }) => existing),
    orphaned: plans.flatMap(({ orphaned }) => orphaned),
    unmatched: plans.flatMap(({ unmatched }) => unmatched),
    problems: plans.flatMap(({ problems }) => problems),
  };
}

/** Returns every transaction of a purchase: a license may have been created under any of them, before later events arrived. */
export function listTransactions({
  facts,
}: Purchase): Pick<BilledLine, 'provider' | 'transactionId'>[] {
  const ids = [
    ...facts.payments.flatMap(({ transactionId, aliases = [] }) => [transactionId, ...aliases]),
    ...facts.snapshots.map(({ transactionId }) => transactionId),
    ...facts.snapshots.slice(0, 1).map((each) => nameSubscription(each.subscriptionId)),
  ];
  return [...new Set(ids)].flatMap((transactionId) =>
    transactionId === null ? [] : [{ provider: facts.provider, transactionId }],
  );
}

function planPurchase(
  purchase: Purchase,
  lines: readonly BilledLine[],
  sale: SaleFinder,
): LicensePlans {
  const drafts = [
    ...computeLicenses(purchase.facts, sale.findProduct, sale.countParts, sale),
    ...computeIssued(purchase.facts, sale.findProduct),
  ];
  const missing: MissingLicense[] = [];
  const existing: ExistingLicense[] = [];
  for (const draft of drafts) {
    const { line, adopted } = sale.findLine(draft);
    const terms = readTerms(draft);
    if (line !== null) {
      existing.push({ purchase, draft, terms, line, ...(adopted === null ? {} : { adopted }) });
    } else if (terms?.tier != null && terms.features !== null) {
      const { tier, features } = terms;
      missing.push({ purchase, draft, terms: { ...terms, tier, features } });
    }
  }
  const kept = new Set(existing.map(({ line }) => line.licenseId));
  const orphaned = lines
    .filter(({ licenseId }) => !kept.has(licenseId))
    .map((line) => ({ purchase, line }));
  const isKept = (priceId: string): boolean =>
    existing.some(({ draft }) => draft.priceId === priceId);
  const problems = findProblems(purchase.facts, drafts, sale.findProduct, isKept);
  return {
    missing,
    existing,
    orphaned,
    ...splitProblems(purchase, drafts, problems, existing.length + missing.length),
  };
}

/** A purchase without any license is reported as a whole. */
function splitProblems(
  purchase: Purchase,
  drafts: readonly LicenseDraft[],
  problems: readonly Problem[],
  licenses: number,
): Pick<LicensePlans, 'unmatched' | 'problems'> {
  const isPaid = purchase.facts.payments.some(({ origin }) => origin !== 'other');
  const isUnmatched = licenses === 0 && drafts.length > 0 && (problems.length > 0 || !isPaid);
  if (!isUnmatched) {
    return { unmatched: [], problems: problems.map((each) => ({ ...each, purchase })) };
  }
  const prices = drafts.map(({ priceId }) => priceId);
  const reason = problems[0]?.reason ?? explainPrices(prices);
  return { unmatched: [{ purchase, reason }], problems: [] };
}

function readTerms({ product, quantity }: LicenseDraft): SoldTerms | null {
  if (product === null) return null;
  return {
    productId: product.id,
    tier: product.tier,
    features: product.features,
    maxActivations: Math.min(product.maxActivations * quantity, MAX_ACTIVATIONS),
  };
}

function toTransactionName({
  provider,
  transactionId,
}: Pick<BilledLine, 'provider' | 'transactionId'>): string {
  return `${provider} ${transactionId}`;
}
