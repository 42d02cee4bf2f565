import type { Product } from '#server/config/catalog-model.ts';

import type { BillingProvider } from '../facts.ts';
import { computeLicenses } from './compute-licenses.ts';
import type { Purchase } from './group-purchases.ts';
import type { LicenseDraft } from './purchase.ts';

/** A license that a line of a checkout made. */
export interface BilledLine {
  readonly provider: string;
  readonly transactionId: string;
  readonly lineKey: string;
  readonly licenseId: string;
}

/** What a line sells, and for how many machines. */
interface SoldTerms {
  readonly productId: string;
  readonly tier: string;
  readonly features: readonly string[];
  readonly maxActivations: number;
}

/** A license that is to be made. */
export interface MissingLicense {
  readonly purchase: Purchase;
  readonly draft: LicenseDraft;
  readonly terms: SoldTerms;
}

/** A license that is there, and what it is to be. */
export interface MadeLicense {
  readonly purchase: Purchase;
  readonly draft: LicenseDraft;
  /** Null: as they are, for the catalogue names the line's price no more. */
  readonly terms: SoldTerms | null;
  /** The line as it was when it was made, so its transaction may be another one than the draft's. */
  readonly line: BilledLine;
}

/** A license of a line that there is no more, since two purchases turned out to be one. */
export interface StrayLicense {
  readonly purchase: Purchase;
  readonly line: BilledLine;
}

/** A purchase that sells nothing that the catalogue names, and why; a sentence for people. */
export interface UnsoldPurchase {
  readonly purchase: Purchase;
  readonly reason: string;
}

/** What is to be done about the licenses of purchases. */
export interface LicensePlans {
  readonly missing: readonly MissingLicense[];
  readonly made: readonly MadeLicense[];
  readonly strays: readonly StrayLicense[];
  readonly unsold: readonly UnsoldPurchase[];
}

/** More machines than PostgreSQL's integer counts are as good as any number. */
const MAX_ACTIVATIONS = 1_000_000_000;

/**
 * Holds what the licenses of purchases are to be against those that were made.
 * @param lines those that {@link listTransactions} leads to, the oldest first
 */
export function planLicenses(
  purchases: readonly Purchase[],
  lines: readonly BilledLine[],
  findProduct: (provider: BillingProvider, priceId: string) => Product | null,
): LicensePlans {
  const linesOf = Map.groupBy(lines, nameTransaction);
  const plans = purchases.map((purchase) => {
    const { provider } = purchase.facts;
    const drafts = computeLicenses(purchase.facts, (priceId) => findProduct(provider, priceId));
    const own = listTransactions(purchase).flatMap(
      (each) => linesOf.get(nameTransaction(each)) ?? [],
    );
    return planPurchase(purchase, drafts, own);
  });
  return {
    missing: plans.flatMap(({ missing }) => missing),
    made: plans.flatMap(({ made }) => made),
    strays: plans.flatMap(({ strays }) => strays),
    unsold: plans.flatMap(({ unsold }) => unsold),
  };
}

/** Every transaction of a purchase, for a license may have been made under another one while less was known. */
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
  const made: MadeLicense[] = [];
  for (const draft of drafts) {
    const line = findMade(lines, draft);
    const terms = readTerms(draft);
    if (line !== null) made.push({ purchase, draft, terms, line });
    else if (terms !== null) missing.push({ purchase, draft, terms });
  }
  const kept = new Set(made.map(({ line }) => line));
  const strays = lines.filter((line) => !kept.has(line)).map((line) => ({ purchase, line }));
  const isUnsold = drafts.length > 0 && made.length + missing.length === 0;
  const unsold = isUnsold ? [{ purchase, reason: explainUnsold(drafts) }] : [];
  return { missing, made, strays, unsold };
}

function findMade(lines: readonly BilledLine[], draft: LicenseDraft): BilledLine | null {
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

function explainUnsold(drafts: readonly LicenseDraft[]): string {
  const prices = [...new Set(drafts.map(({ priceId }) => priceId))].slice(0, 5).join(', ');
  return `No product of the catalogue has the price ${prices}.`;
}

function nameTransaction({
  provider,
  transactionId,
}: Pick<BilledLine, 'provider' | 'transactionId'>): string {
  return `${provider} ${transactionId}`;
}
