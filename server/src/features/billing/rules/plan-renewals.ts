import { isTestSource } from '@latchkey/contract';

import { compareOccurrences } from '../facts.ts';
import type { LicenseDraft } from './compute-licenses.ts';
import { ATTENTION_PREFIX } from './event-state.ts';
import type { Problem } from './find-problems.ts';
import { findRecipient } from './find-recipient.ts';
import { toSold, type Sale } from './find-sale.ts';
import { compareText } from './compare-facts.ts';
import { findBuyer, type Purchase } from './group-purchases.ts';
import type { BilledLine, ExistingLicense, PurchaseProblem, SoldCatalog } from './plan-licenses.ts';
import { combinePurchases, type Contribution } from './renew-license.ts';

/** The license that a purchase names, to renew or upgrade it. */
export interface RenewedLicense {
  readonly licenseId: string;
  readonly productId: string;
  readonly maxActivations: number;
  readonly expiresAt: Date | null;
  readonly customerEmail: string | null;
  readonly isRevoked: boolean;
  readonly isTrial: boolean;
  /** Whether a test purchase created it. */
  readonly isTest: boolean;
}

/** The licenses that purchases name, by the name in their facts; null: no license has it. */
export type RenewedLicenses = ReadonlyMap<string, RenewedLicense | null>;

/** Returns how a purchase names the license that it renews, in its oldest fact that names one; null: it names none. */
export function findRenewedName({ facts }: Purchase): string | null {
  const ordered = [...facts.payments, ...facts.snapshots].sort(compareOccurrences);
  return ordered.find(({ renews }) => renews !== undefined)?.renews ?? null;
}

/** The line of a purchase that renews a license, and that license; null: it cannot be renewed. */
interface Renewal {
  readonly lineKey: string;
  readonly license: RenewedLicense | null;
  readonly problem: string | null;
}

const CAUSES = {
  unknown: `${ATTENTION_PREFIX}it renews a license that does not exist. Extend the right one, or issue one, and dismiss the event; or refund the payment at the provider.`,
  revoked: `${ATTENTION_PREFIX}it renews a license that is revoked. Refund the payment at the provider, or issue a new license.`,
  trial: `${ATTENTION_PREFIX}it renews the license of a trial. Issue a license for it, and dismiss the event.`,
  test: `${ATTENTION_PREFIX}one of the purchase and the license that it renews is of a test mode. Buy a license in the test mode, and renew that.`,
  customer: `${ATTENTION_PREFIX}it renews a license of another customer. If both are the same person, set the license's address to that of the payment with latchkey license owner, and replay the event; or refund the payment at the provider.`,
} as const;

/**
 * Decides which line of a purchase renews the license that it names: the first of the license's product, or else the first
 * one. Null: it names none, or one of its lines renews it already.
 */
export function findRenewal(
  purchase: Purchase,
  lines: readonly BilledLine[],
  drafts: readonly LicenseDraft[],
  renewed: RenewedLicenses,
): Renewal | null {
  const name = findRenewedName(purchase);
  if (name === null || lines.some(({ renews }) => renews === true)) return null;
  const license = renewed.get(name) ?? null;
  if (lines.some(({ licenseId }) => licenseId === license?.licenseId)) return null;
  const sold = drafts.filter(
    ({ product, lineKey }) => product !== null && !lineKey.startsWith('charge:'),
  );
  const line = sold.find(({ product }) => product?.id === license?.productId) ?? sold[0];
  if (line === undefined) return null;
  const problem = findObstacle(purchase, license);
  return { lineKey: line.lineKey, license: problem === null ? license : null, problem };
}

/** The license that a purchase names; `license` is null if it cannot be renewed, and `problem` is the cause. */
export type NamedLicense = Omit<Renewal, 'lineKey'>;

/** Finds the license that a purchase names; null: it names none. */
export function findNamed(purchase: Purchase, renewed: RenewedLicenses): NamedLicense | null {
  const name = findRenewedName(purchase);
  if (name === null) return null;
  const license = renewed.get(name) ?? null;
  const problem = findObstacle(purchase, license);
  return { license: problem === null ? license : null, problem };
}

function findObstacle(purchase: Purchase, license: RenewedLicense | null): string | null {
  if (license === null) return CAUSES.unknown;
  if (license.isRevoked) return CAUSES.revoked;
  if (license.isTrial) return CAUSES.trial;
  if (license.isTest !== isTestSource(purchase.facts.provider)) return CAUSES.test;
  const addresses = [findBuyer(purchase).customer.email, findRecipient(purchase)?.email ?? null];
  const known = addresses.flatMap((email) => (email === null ? [] : [email.toLowerCase()]));
  const { customerEmail } = license;
  const isOther =
    known.length > 0 && customerEmail !== null && !known.includes(customerEmail.toLowerCase());
  return isOther ? CAUSES.customer : null;
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
}

/** Combines the lines of each license: its own, and those that renew it. */
export function combineLines(
  existing: readonly ExistingLicense[],
  catalog: SoldCatalog,
): CombinedLicenses {
  const updates: ExistingLicense[] = [];
  const problems: PurchaseProblem[] = [];
  for (const lines of Map.groupBy(existing, ({ line }) => line.licenseId).values()) {
    if (lines.every(({ line }) => line.renews !== true)) {
      updates.push(...lines);
      continue;
    }
    const combined = combineLicense(lines, catalog);
    updates.push(combined.update);
    problems.push(...combined.problems);
  }
  return { updates, problems };
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
  return { update: { ...newest, draft, terms, owner }, problems };
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
