import type { LicenseFacts } from '../../licenses/rules/facts.ts';
import type { PlannedLicense } from './plan-license.ts';

/** The facts of a license that decide whether it is that of a row. */
export interface SoldFacts extends LicenseFacts {
  readonly customerEmail: string | null;
}

/** A license that payments created, or that the next payment of a subscription adopts. */
export interface SoldCandidate {
  readonly license: SoldFacts;
  /** The id by which a row names it; `end`: none, but its customer and its end, or the beginning of its oldest known payment, are the same. */
  readonly kind: 'transaction' | 'subscription' | 'end';
  /** Whether another row has added its key. */
  readonly hasAddedKey: boolean;
  /** Whether a payment here created or adopted it; otherwise another source imported it, or an operator issued it. */
  readonly isPaid: boolean;
}

/**
 * Selects the license that the payments of a row created. A name decides, if the row says whose name it is: ids of two providers
 * may be equal, so that without a provider the addresses decide, too. Null: none fits, or one of several that are not the same.
 */
export function selectSold<Candidate extends SoldCandidate>(
  license: Pick<PlannedLicense, 'provider' | 'customerEmail' | 'product' | 'licenseKey'>,
  candidates: readonly Candidate[],
): Candidate | null {
  const { provider, product } = license;
  const named = candidates.filter(
    (each) =>
      each.kind !== 'end' &&
      (provider !== null || hasSameAddress(license, each)) &&
      !mayBeAnother(license, each),
  );
  const ofProduct = named.filter((each) => each.license.productId === product.id);
  const usable = ofProduct.filter((each) => each.license.canceledAt === null);
  // Each key of a quantity has its license.
  const found = usable.find((each) => !each.hasAddedKey) ?? usable[0] ?? ofProduct[0];
  if (found !== undefined) return found;
  return selectOther(license, named) ?? selectByEnd(license, candidates);
}

/** A purchase elsewhere may have had several keys, each of which has its license. */
function mayBeAnother(
  { licenseKey }: Pick<PlannedLicense, 'licenseKey'>,
  { kind, isPaid, license }: SoldCandidate,
): boolean {
  return !isPaid && kind === 'transaction' && licenseKey !== null && !license.subscription;
}

/** The product of a subscription may have changed: its only license is that of the row, as for a payment that adopts it. */
function selectOther<Candidate extends SoldCandidate>(
  { licenseKey, provider }: Pick<PlannedLicense, 'licenseKey' | 'provider'>,
  named: readonly Candidate[],
): Candidate | null {
  const subscribed = named.filter(({ kind }) => kind === 'subscription');
  const [only, ...others] = new Set(subscribed.map((each) => each.license.id));
  if (licenseKey === null || provider === null || others.length > 0) return null;
  return subscribed.find((each) => each.license.id === only) ?? null;
}

/** The end decides only if a single license fits. */
function selectByEnd<Candidate extends SoldCandidate>(
  license: Pick<PlannedLicense, 'customerEmail' | 'product'>,
  candidates: readonly Candidate[],
): Candidate | null {
  const fitting = candidates.filter(
    (each) =>
      each.kind === 'end' &&
      each.license.productId === license.product.id &&
      hasSameAddress(license, each),
  );
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

function hasSameAddress(
  { customerEmail }: Pick<PlannedLicense, 'customerEmail'>,
  { license }: SoldCandidate,
): boolean {
  return (
    customerEmail !== null && customerEmail.toLowerCase() === license.customerEmail?.toLowerCase()
  );
}
