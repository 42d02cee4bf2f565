import { isTestSource } from '@latchkey/contract';

import { isLarger, type ComparedTerms } from './compare-terms.ts';
import type { LicenseDraft } from './compute-licenses.ts';
import { ATTENTION_PREFIX } from './event-state.ts';

/** The license that a purchase names, to renew or upgrade it. */
export interface RenewedLicense {
  readonly licenseId: string;
  readonly productId: string;
  readonly maxActivations: number;
  readonly features: readonly string[];
  /** Every other product that it was ever sold as; features are null if the catalogue no longer has it. */
  readonly soldAs: readonly Pick<ComparedTerms, 'productId' | 'features'>[];
  readonly expiresAt: Date | null;
  readonly customerEmail: string | null;
  readonly isRevoked: boolean;
  readonly isTrial: boolean;
  /** Whether a test purchase created it. */
  readonly isTest: boolean;
}

const CAUSES = {
  unknown: `${ATTENTION_PREFIX}it renews a license that does not exist. Extend the right one, or issue one, and dismiss the event; or refund the payment at the provider.`,
  revoked: `${ATTENTION_PREFIX}it renews a license that is revoked. Refund the payment at the provider, or issue a new license.`,
  trial: `${ATTENTION_PREFIX}it renews the license of a trial. Issue a license for it, and dismiss the event.`,
  test: `${ATTENTION_PREFIX}one of the purchase and the license that it renews is of a test mode. Buy a license in the test mode, and renew that.`,
  smaller: `${ATTENTION_PREFIX}it would change a license to a product that is not larger: with fewer machines, without one of its features, or with no more of either. The license stays as it is. Issue a license for the payment with latchkey webhook issue, or refund it at the provider.`,
  customer: `${ATTENTION_PREFIX}it renews a license of another customer. If both are the same person, set the license's address to that of the payment with latchkey license owner, and replay the event; or refund the payment at the provider.`,
  unproven: `${ATTENTION_PREFIX}it would change the product or the machines of a license, and nothing shows that the payer has it. If so, set the same address for both with latchkey webhook set-address and latchkey license owner, and replay the event; or refund the payment at the provider.`,
} as const;

/** What is known about a purchase that names a license. */
interface NamingPurchase {
  readonly provider: string;
  /** The line that would renew the license; null: it only adds time. */
  readonly line: LicenseDraft | null;
  /** Whether it names the license by its key, which is secret; its id is not. */
  readonly isNamedByKey: boolean;
  /** Of its payer and of the recipient of a gift, in lower case. */
  readonly addresses: readonly string[];
}

/**
 * Returns why a purchase cannot renew the license that it names, a sentence for operators; null if it can. Buyers can name any
 * license in the address of a checkout, and type the address of its owner, so a purchase never makes a license smaller, and one
 * that may belong to another person only gets time.
 */
export function findObstacle(
  license: RenewedLicense | null,
  { provider, line, isNamedByKey, addresses }: NamingPurchase,
): string | null {
  if (license === null) return CAUSES.unknown;
  if (license.isRevoked) return CAUSES.revoked;
  if (license.isTrial) return CAUSES.trial;
  if (license.isTest !== isTestSource(provider)) return CAUSES.test;
  if (line !== null && isNotLarger(line, license)) return CAUSES.smaller;
  const owner = license.customerEmail?.toLowerCase() ?? null;
  if (owner === null) return isNamedByKey || !changesTerms(line, license) ? null : CAUSES.unproven;
  if (addresses.includes(owner)) return null;
  if (addresses.length > 0) return CAUSES.customer;
  return changesTerms(line, license) ? CAUSES.unproven : null;
}

/**
 * Whether a line sells another product that is not larger than all that the license was sold as. Its current product is not
 * enough: a dispute that is won later brings a larger one back.
 */
function isNotLarger({ product, quantity }: LicenseDraft, license: RenewedLicense): boolean {
  if (product === null || product.id === license.productId) return false;
  const { productId, maxActivations, features, soldAs } = license;
  // Buying again what was paid back makes nothing smaller.
  const others = soldAs.filter((each) => each.productId !== product.id);
  const maxSold = product.maxActivations * quantity;
  const next = { productId: product.id, features: product.features, maxActivations: maxSold };
  return [{ productId, features }, ...others].some(
    (each) => !isLarger(next, { ...each, maxActivations }),
  );
}

/** A purchase of one time leaves the machines; a subscription replaces them. */
function changesTerms(line: LicenseDraft | null, license: RenewedLicense): boolean {
  if (line === null) return false;
  const { product, quantity, subscription } = line;
  if (product === null || product.id !== license.productId) return true;
  return subscription && product.maxActivations * quantity < license.maxActivations;
}
