import { isUuid } from '@latchkey/contract';

import { compareOccurrences } from '../facts.ts';
import type { LicenseDraft } from './compute-licenses.ts';
import type { Problem } from './find-problems.ts';
import { findObstacle, type RenewedLicense } from './find-obstacle.ts';
import { findRecipient } from './find-recipient.ts';
import { toSold, type Sale } from './find-sale.ts';
import { compareText } from './compare-facts.ts';
import { findBuyer, type Buyer, type Purchase } from './group-purchases.ts';
import type { BilledLine, ExistingLicense, PurchaseProblem, SoldCatalog } from './plan-licenses.ts';
import { combinePurchases, type Contribution } from './renew-license.ts';

/** The licenses that purchases name, by the name in their facts; null: no license has it. */
export type RenewedLicenses = ReadonlyMap<string, RenewedLicense | null>;

/** Who gets the licenses of a purchase, and who paid for them. */
export interface KnownBuyer extends Buyer {
  readonly payer: Buyer['customer'];
}

/** The licenses that purchases name, and what is stored of their buyers. */
export interface NamedLicenses {
  readonly licenses: RenewedLicenses;
  /** Returns the buyer of a purchase with the stored details. Undefined: none are stored. */
  readonly buyerOf: (purchase: Purchase) => KnownBuyer | undefined;
}

export const NAMES_NONE: NamedLicenses = { licenses: new Map(), buyerOf: () => undefined };

/** Returns how a purchase names the license that it renews, in its oldest fact that names one; null: it names none. */
export function findRenewedName({ facts }: Purchase): string | null {
  const naming = [...facts.payments, ...facts.snapshots].filter(
    ({ renews }) => renews !== undefined,
  );
  return naming.sort(compareOccurrences)[0]?.renews ?? null;
}

/** The line of a purchase that renews a license, and that license; null: it cannot be renewed. */
interface Renewal {
  readonly lineKey: string;
  readonly license: RenewedLicense | null;
  readonly problem: string | null;
}

/**
 * Decides which line of a purchase renews the license that it names: the first of the license's product, or else the first
 * one. Null: it names none, or one of its lines renews it already.
 */
export function findRenewal(
  purchase: Purchase,
  lines: readonly BilledLine[],
  drafts: readonly LicenseDraft[],
  renewed: NamedLicenses,
): Renewal | null {
  const name = findRenewedName(purchase);
  if (name === null || lines.some(({ renews }) => renews === true)) return null;
  const license = renewed.licenses.get(name) ?? null;
  if (lines.some(({ licenseId }) => licenseId === license?.licenseId)) return null;
  const sold = drafts.filter(
    ({ product, lineKey }) => product !== null && !lineKey.startsWith('charge:'),
  );
  const line = sold.find(({ product }) => product?.id === license?.productId) ?? sold[0];
  if (line === undefined) return null;
  const named = findNamed(purchase, renewed, line);
  return named === null ? null : { lineKey: line.lineKey, ...named };
}

/** Reports a purchase that cannot renew the license that it names, unless it was paid back. */
export function explainRefusal(
  purchase: Purchase,
  drafts: readonly LicenseDraft[],
  renewal: Renewal | null,
): Problem[] {
  if (renewal === null || renewal.problem === null) return [];
  const draft = drafts.find(({ lineKey }) => lineKey === renewal.lineKey);
  return draft?.refundedAt == null ? [toProblem(purchase, renewal.problem)] : [];
}

/** The license that a purchase names; `license` is null if it cannot be renewed, and `problem` is the cause. */
export type NamedLicense = Omit<Renewal, 'lineKey'>;

/**
 * Finds the license that a purchase names; null: it names none.
 * @param line what would renew it; null: something that only adds time
 */
export function findNamed(
  purchase: Purchase,
  { licenses, buyerOf }: NamedLicenses,
  line: LicenseDraft | null,
): NamedLicense | null {
  const name = findRenewedName(purchase);
  if (name === null) return null;
  const license = licenses.get(name) ?? null;
  const { customer, payer } = buyerOf(purchase) ?? {};
  const known = [findBuyer(purchase).customer, findRecipient(purchase), customer, payer];
  const addresses = known.flatMap((each) => each?.email?.toLowerCase() ?? []);
  const { provider } = purchase.facts;
  const isNamedByKey = !isUuid(name);
  const problem = findObstacle(license, { provider, line, isNamedByKey, addresses });
  return { license: problem === null ? license : null, problem };
}

/** What a license was before the first purchase that renewed it, if none sold it here. */
export function toBaseSale({ productId, maxActivations, expiresAt }: RenewedLicense): Sale {
  return {
    priceId: '',
    productId,
    machines: maxActivations,
    durationDays: null,
    hasFixedEnd: true,
    endsAt: expiresAt,
  };
}

/** The state of each license, and the purchases that did not give all that was paid. */
interface CombinedLicenses {
  readonly updates: readonly ExistingLicense[];
  readonly problems: readonly PurchaseProblem[];
  /** The lines that change nothing of the license that they renew. */
  readonly withoutEffect: ReadonlySet<ExistingLicense>;
}

/** Combines the lines of each license: its own, and those that renew it. */
export function combineLines(
  existing: readonly ExistingLicense[],
  catalog: SoldCatalog,
): CombinedLicenses {
  const updates: ExistingLicense[] = [];
  const problems: PurchaseProblem[] = [];
  const withoutEffect = new Set<ExistingLicense>();
  for (const lines of Map.groupBy(existing, ({ line }) => line.licenseId).values()) {
    if (lines.every(({ line }) => line.renews !== true)) {
      updates.push(...lines);
      continue;
    }
    const combined = combineLicense(lines, catalog);
    updates.push(combined.update);
    problems.push(...combined.problems);
    for (const line of combined.withoutEffect) withoutEffect.add(line);
  }
  return { updates, problems, withoutEffect };
}

function combineLicense(lines: readonly ExistingLicense[], catalog: SoldCatalog) {
  const ordered = lines.toSorted(compareLines);
  const own = ordered.filter(({ line }) => line.renews !== true);
  const base = own.length > 0 ? [] : toList(findBase(ordered, catalog));
  const [first, ...others] = [...base, ...ordered];
  const newest = ordered.at(-1);
  if (first === undefined || newest === undefined) throw new Error('a license has no line');
  const combined = combinePurchases([first, ...others]);
  const problems = ordered.flatMap(({ purchase }, index) => {
    const reason = combined.problems.get(index + base.length);
    return reason === undefined ? [] : [{ ...toProblem(purchase, reason), purchase }];
  });
  const { draft, terms } = combined;
  const owner = own[0]?.purchase ?? null;
  const withoutEffect = ordered.filter((_, index) =>
    combined.withoutEffect.has(index + base.length),
  );
  return { update: { ...newest, draft, terms, owner }, problems, withoutEffect };
}

/** The license's own line first, then by time. */
function compareLines(one: ExistingLicense, other: ExistingLicense): number {
  return (
    Number(one.line.renews === true) - Number(other.line.renews === true) ||
    one.draft.soldAt.getTime() - other.draft.soldAt.getTime() ||
    compareText(one.line.transactionId, other.line.transactionId) ||
    compareText(one.line.lineKey, other.line.lineKey)
  );
}

/** What a license was when a purchase first renewed it. */
function findBase(lines: readonly ExistingLicense[], catalog: SoldCatalog): Contribution | null {
  const sales = lines.flatMap(({ baseSale, line }) => [
    ...toList(baseSale ?? null),
    ...(line.sales ?? []),
  ]);
  const sale = sales.find(({ priceId }) => priceId === '');
  const [line] = lines;
  if (sale === undefined || line === undefined) return null;
  const product = toSold(sale, sale.machines, catalog);
  const { id: productId, tier, features, maxActivations } = product;
  return {
    draft: {
      ...line.draft,
      product,
      priceId: '',
      quantity: 1,
      total: null,
      subscription: false,
      hasGrace: false,
      expiresAt: sale.endsAt,
      cancelScheduledFor: null,
      canceledAt: null,
      pausedAt: null,
      disputedAt: null,
      refundedAt: null,
    },
    terms: { productId, tier, features, maxActivations },
  };
}

/** Reports a problem with the payment that a purchase begins with. */
export function toProblem({ facts }: Purchase, reason: string): Problem {
  const { payments, snapshots } = facts;
  const first = payments.find(({ origin }) => origin !== 'other') ?? snapshots[0] ?? payments[0];
  return { eventId: first?.eventId ?? '', reason };
}

function toList<Value>(value: Value | null): Value[] {
  return value === null ? [] : [value];
}
