import type { LicenseStatusFacts } from '../../licenses/rules/facts.ts';
import { licenseStatus, type LicenseStatus } from '../../licenses/rules/status.ts';

/** What a purchase can do for a license: both are false if none can. */
interface Offers {
  /** Whether a purchase adds time: to the license, or to its updates. */
  readonly renewal: boolean;
  readonly upgrade: boolean;
}

const NO_OFFERS: Offers = { renewal: false, upgrade: false };

/** What decides about the offers for a license. */
export type OfferedLicense = LicenseStatusFacts & { readonly isTest: boolean };

/** A purchase for such a license would need attention, or is not wanted before the seller decides. */
const UNSOLD: ReadonlySet<LicenseStatus> = new Set(['revoked', 'refunded', 'suspended']);

const ENDED: ReadonlySet<LicenseStatus> = new Set(['canceled', 'expired']);

/**
 * Decides what a buyer can buy for a license.
 * - A subscription that continues is paid by its next payment: a second one would charge its buyer twice. One that has
 *   ended can be renewed.
 * - A license without an end can be renewed only if its updates end.
 * - Trials and test licenses cannot be renewed by a payment.
 */
export function selectOffers(license: OfferedLicense, now: Date): Offers {
  const status = licenseStatus(license, now);
  if (license.trial || license.isTest || UNSOLD.has(status)) return NO_OFFERS;
  const hasEnd = license.expiresAt !== null || license.updatesUntil !== null;
  const renewal = license.subscription ? ENDED.has(status) : hasEnd || ENDED.has(status);
  return { renewal, upgrade: true };
}
