import type { Product } from '#server/config/catalog-model.ts';

import type { UpdatesEntry } from '../../licenses/rules/updates-until.ts';
import type { BillingProvider } from '../facts.ts';
import { nameSubscription, type LicenseDraft } from './compute-licenses.ts';
import { ATTENTION_PREFIX } from './event-state.ts';
import type { Problem } from './find-problems.ts';
import { createSaleFinder, type Sale } from './find-sale.ts';
import type { Purchase } from './group-purchases.ts';
import { planPurchase } from './plan-purchase.ts';
import { combineLines, NAMES_NONE, type NamedLicenses } from './plan-renewals.ts';
import type { UpdatesRenewal } from './plan-updates.ts';
import { withRepairs } from './repairs.ts';

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
  /** The checkouts by which the license is found. Absent: unknown. */
  readonly checkouts?: readonly Checkout[];
}

/** A checkout by which `check` finds a license, and the license's place in it. */
export interface Checkout {
  readonly transactionId: string;
  readonly position: number;
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
  /** Whether the line has a license that an operator issued, from now on. Default: false. */
  readonly isTakenOver?: boolean;
  /** Whether the line renews the license and changes nothing of it. Default: false. */
  readonly hasNoEffect?: true;
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
  const { updates, problems, withoutEffect } = combineLines(existing, catalog);
  const kept = new Set(existing.map(({ line }) => line.licenseId));
  return {
    missing: plans.flatMap(({ missing }) => missing),
    existing: existing.map((each) =>
      withoutEffect.has(each) ? { ...each, hasNoEffect: true } : each,
    ),
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
    ...facts.setAside.map(({ payment }) => payment?.transactionId ?? null),
    ...(facts.paidBack ?? []).map(({ transactionId }) => transactionId),
    ...(facts.repairs ?? []).map(({ transactionId }) => transactionId || null),
    ...facts.snapshots.map(({ transactionId }) => transactionId),
    ...facts.snapshots.slice(0, 1).map((each) => nameSubscription(each.subscriptionId)),
  ];
  return [...new Set(ids)].flatMap((transactionId) =>
    transactionId === null ? [] : [{ provider: facts.provider, transactionId }],
  );
}

/** Reports the payments of a license whose pool has no free key, unless they were paid back. */
export function explainEmptyPool({ purchase, draft, terms }: MissingLicense): PurchaseProblem[] {
  if (draft.refundedAt !== null) return [];
  const reason = `${ATTENTION_PREFIX}the pool of ${terms.productId} has no free key. Add keys (latchkey pool add), then replay the event.`;
  return purchase.facts.payments
    .filter(({ origin }) => origin !== 'other')
    .map(({ eventId }) => ({ purchase, eventId, reason }));
}

/** Names a transaction across providers. */
export function toTransactionName({
  provider,
  transactionId,
}: Pick<BilledLine, 'provider' | 'transactionId'>): string {
  return `${provider} ${transactionId}`;
}
