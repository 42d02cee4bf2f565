import type { Product } from '#server/config/catalog-model.ts';

import type { UpdatesEntry } from '../../licenses/rules/updates-until.ts';
import type { BillingProvider } from '../facts.ts';
import { computeLicenses, nameSubscription, type LicenseDraft } from './compute-licenses.ts';
import { ATTENTION_PREFIX } from './event-state.ts';
import type { RenewedLicense } from './find-obstacle.ts';
import { explainPrices, findProblems, type Problem } from './find-problems.ts';
import { isRecipientInvalid } from './find-recipient.ts';
import type { Purchase } from './group-purchases.ts';
import {
  combineLines,
  findRenewal,
  toBaseSale,
  NAMES_NONE,
  toProblem,
  type NamedLicenses,
} from './plan-renewals.ts';
import { toUpdatesRenewal, type UpdatesRenewal } from './plan-updates.ts';
import { trackPaidLines } from './paid-lines.ts';
import { computeIssued, withRepairs } from './repairs.ts';
import { createSaleFinder, type SaleFinder, type Sale } from './find-sale.ts';

/** A line of a checkout and the license that was created for it. */
export interface BilledLine {
  readonly provider: string;
  readonly transactionId: string;
  readonly lineKey: string;
  readonly licenseId: string;
  /** Whether it renews or upgrades a license that existed. Default: false. */
  readonly renews?: boolean;
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
  /** Default: no price sells updates. */
  readonly findUpdatesPrice?: SoldCatalog['findPrice'];
  readonly products: ReadonlyMap<string, Product>;
}

/** The terms of the product that a line sells; null: as stored with the license. */
export interface SoldTerms {
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
  /** Whether the line renews the license from now on. Default: it is recorded already. */
  readonly isNewRenewal?: boolean;
  /** What the license was before; only with a new renewal. */
  readonly baseSale?: Sale;
  /** The purchase whose buyer has the license; null: it has the customer that it had. Default: `purchase`. */
  readonly owner?: Purchase | null;
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
  /** The new state of each license of `existing`: of all of its lines. */
  readonly updates: readonly ExistingLicense[];
  readonly orphaned: readonly OrphanedLicense[];
  readonly renewals: readonly UpdatesRenewal[];
  readonly unmatched: readonly UnmatchedPurchase[];
  /** Payments that do not have all of their licenses, in other purchases. */
  readonly problems: readonly PurchaseProblem[];
}

/** A problem of a payment. */
export interface PurchaseProblem extends Problem {
  readonly purchase: Purchase;
}

const INVALID_RECIPIENT = `${ATTENTION_PREFIX}it is a gift, but the recipient's address is invalid, so the payer has the license. Set the right address with latchkey license owner.`;

/** Fits into an integer of PostgreSQL. */
const MAX_ACTIVATIONS = 1_000_000_000;

/**
 * Compares the licenses that purchases should have with those that exist.
 * @param lines of the transactions that {@link listTransactions} returns, oldest first
 * @param renewed the licenses that purchases name
 * @param adoptable licenses that have a name of {@link listNames}, oldest first
 * @param entries what moves the end of updates of the licenses
 */
export function planLicenses(
  purchases: readonly Purchase[],
  lines: readonly BilledLine[],
  catalog: SoldCatalog,
  adoptable: readonly AdoptableLicense[] = [],
  renewed: NamedLicenses = NAMES_NONE,
  entries: readonly UpdatesEntry[] = [],
): LicensePlans {
  const linesOf = Map.groupBy(lines, toTransactionName);
  const renewalsOf = Map.groupBy(
    entries.filter(({ kind }) => kind === 'renewal'),
    toTransactionName,
  );
  const plans = purchases.map((purchase) => {
    const names = listTransactions(purchase).map(toTransactionName);
    const own = names.flatMap((name) => linesOf.get(name) ?? []);
    const known = names.flatMap((name) => renewalsOf.get(name) ?? []);
    const repaired = withRepairs(catalog, purchase.facts);
    const sale = createSaleFinder(purchase, own, repaired, adoptable, known);
    return planPurchase(purchase, own, sale, { renewed, known });
  });
  const existing = plans.flatMap((plan) => plan.existing);
  const { updates, problems } = combineLines(existing, catalog);
  const kept = new Set(existing.map(({ line }) => line.licenseId));
  return {
    missing: plans.flatMap(({ missing }) => missing),
    existing,
    updates,
    orphaned: plans.flatMap((plan) =>
      plan.orphaned.filter(({ line }) => !kept.has(line.licenseId)),
    ),
    renewals: plans.flatMap(({ renewals }) => renewals),
    unmatched: plans.flatMap(({ unmatched }) => unmatched),
    problems: [...plans.flatMap((plan) => plan.problems), ...problems],
  };
}

/** Returns every transaction of a purchase: a license may have been created under any of them, before later events arrived. */
export function listTransactions({
  facts,
}: Purchase): Pick<BilledLine, 'provider' | 'transactionId'>[] {
  const ids = [
    ...facts.payments.flatMap(({ transactionId, checkoutId = null, aliases = [] }) => [
      transactionId,
      // A license from elsewhere is adopted under the checkout, if its payment is not known yet.
      checkoutId,
      ...aliases,
    ]),
    ...facts.setAside.map(({ transactionId = null }) => transactionId),
    ...(facts.paidBack ?? []).map(({ transactionId }) => transactionId),
    ...(facts.repairs ?? []).map(({ transactionId }) => transactionId || null),
    ...facts.snapshots.map(({ transactionId }) => transactionId),
    ...facts.snapshots.slice(0, 1).map((each) => nameSubscription(each.subscriptionId)),
  ];
  return [...new Set(ids)].flatMap((transactionId) =>
    transactionId === null ? [] : [{ provider: facts.provider, transactionId }],
  );
}

/** What is known of the licenses that a purchase may renew. */
interface RenewableLicenses {
  readonly renewed: NamedLicenses;
  /** The lines of the purchase that renew updates already. */
  readonly known: readonly UpdatesEntry[];
}

function planPurchase(
  purchase: Purchase,
  lines: readonly BilledLine[],
  sale: SaleFinder,
  { renewed, known }: RenewableLicenses,
): Omit<LicensePlans, 'updates'> {
  const paid = trackPaidLines(purchase.facts);
  const drafts = [
    ...computeLicenses(purchase.facts, sale.findProduct, sale.countParts, sale, paid),
    ...computeIssued(purchase.facts, sale.findProduct),
  ];
  const missing: MissingLicense[] = [];
  const existing: ExistingLicense[] = [];
  const renewals: UpdatesRenewal[] = [];
  const sold = drafts.filter(({ product }) => product?.givesUpdates !== true);
  const renewal = findRenewal(purchase, lines, sold, renewed);
  for (const draft of drafts) {
    const updates = toUpdatesRenewal(purchase, draft, known, renewed);
    if (updates !== null) {
      renewals.push(updates);
      continue;
    }
    const { line, adopted } = sale.findLine(draft);
    const terms = readTerms(draft);
    const isRenewal = draft.lineKey === renewal?.lineKey;
    if (isRenewal && renewal.license !== null) {
      existing.push({ purchase, draft, terms, ...toNewRenewal(purchase, draft, renewal.license) });
    } else if (line !== null) {
      existing.push({ purchase, draft, terms, line, ...(adopted === null ? {} : { adopted }) });
    } else if (!isRenewal && terms?.tier != null && terms.features !== null) {
      const { tier, features } = terms;
      missing.push({ purchase, draft, terms: { ...terms, tier, features } });
    }
  }
  const kept = new Set(existing.map(({ line }) => line.licenseId));
  const orphaned = lines
    .filter(({ licenseId }) => !kept.has(licenseId))
    .map((line) => ({ purchase, line }));
  const isKept = (priceId: string): boolean =>
    [...existing, ...renewals.filter((each) => each.known !== null)].some(
      ({ draft }) => draft.priceId === priceId,
    );
  const problems = [
    ...findProblems(purchase.facts, drafts, paid, sale.findProduct, isKept),
    ...(renewal?.problem == null ? [] : [toProblem(purchase, renewal.problem)]),
    ...(isRecipientInvalid(purchase) ? [toProblem(purchase, INVALID_RECIPIENT)] : []),
  ];
  return {
    missing,
    existing,
    orphaned,
    renewals,
    ...splitProblems(
      purchase,
      drafts,
      problems,
      existing.length + missing.length + renewals.length,
    ),
  };
}

function toNewRenewal(
  { facts: { provider } }: Purchase,
  { transactionId, lineKey }: LicenseDraft,
  license: RenewedLicense,
): Pick<ExistingLicense, 'line' | 'isNewRenewal' | 'baseSale'> {
  const { licenseId } = license;
  return {
    line: { provider, transactionId, lineKey, licenseId, renews: true },
    isNewRenewal: true,
    baseSale: toBaseSale(license),
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

/** Reports the payments of a license whose pool has no free key. */
export function explainEmptyPool({ purchase, terms }: MissingLicense): PurchaseProblem[] {
  const reason = `${ATTENTION_PREFIX}the pool of ${terms.productId} has no free key. Add keys (latchkey pool add), then replay the event.`;
  return purchase.facts.payments
    .filter(({ origin }) => origin !== 'other')
    .map(({ eventId }) => ({ purchase, eventId, reason }));
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

/** Names a transaction across providers. */
export function toTransactionName({
  provider,
  transactionId,
}: Pick<BilledLine, 'provider' | 'transactionId'>): string {
  return `${provider} ${transactionId}`;
}
