import type { Product } from '#server/config/catalog.ts';

import type { LicenseRecord } from '../../licenses/queries/licenses.ts';
import { licenseStatus } from '../../licenses/rules/status.ts';

/*
 * The answers of Gumroad's license interface: https://gumroad.com/api#licenses. What Latchkey does not know is empty, 0 or false, so
 * that programs that parse strictly find each field.
 */

export const KEY_NOT_FOUND = 'That license does not exist for the provided product.';
const DISABLED = 'This license key has been disabled.';
const ACCESS_EXPIRED = 'Access to the purchase associated with this license has expired.';

/** A license as an answer shows it. */
export interface ShownPurchase {
  readonly license: LicenseRecord;
  /** As the program sent it. */
  readonly key: string;
  readonly product: Product;
  /** The id or permalink under which the program asked. */
  readonly productId: string;
  /** The sale at Gumroad that an import kept, or the license itself. */
  readonly sale: { readonly id: string; readonly soldAt: Date };
}

/**
 * Returns why a key is refused at a time; null if it is answered. A refunded license and one of an ended subscription are
 * answered: the purchase says so, as programs expect.
 */
export function findKeyProblem(license: LicenseRecord, now: Date): string | null {
  const status = licenseStatus(license, now);
  if (status === 'revoked' || status === 'suspended' || status === 'paused') return DISABLED;
  return status === 'expired' && !license.subscription ? ACCESS_EXPIRED : null;
}

/** Describes the purchase of a license. */
export function describePurchase(shown: ShownPurchase, now: Date): Record<string, unknown> {
  const { license, key, product, productId, sale } = shown;
  const customer = product.compatible.showsCustomer ? license : null;
  return {
    seller_id: '',
    product_id: productId,
    product_name: product.name,
    permalink: productId,
    product_permalink: '',
    email: customer?.customerEmail ?? '',
    full_name: customer?.customerName ?? '',
    price: 0,
    gumroad_fee: 0,
    currency: 'usd',
    quantity: 1,
    discover_fee_charged: false,
    can_contact: false,
    referrer: 'direct',
    card: { visual: null, type: null, bin: null, expiry_month: null, expiry_year: null },
    order_number: 0,
    sale_id: sale.id,
    sale_timestamp: formatTime(sale.soldAt),
    purchaser_id: '',
    subscription_id: license.subscription ? license.id : null,
    variants: '',
    license_key: key.trim(),
    is_multiseat_license: license.maxActivations > 1,
    ip_country: '',
    recurrence: null,
    is_gift_receiver_purchase: false,
    test: license.isTest,
    dispute_won: false,
    id: sale.id,
    created_at: formatTime(sale.soldAt),
    custom_fields: [],
    ...describeEnd(license, now),
  };
}

/** What programs examine: whether the money went back, and whether the subscription ended. */
function describeEnd(license: LicenseRecord, now: Date): Record<string, unknown> {
  const status = licenseStatus(license, now);
  const hasEnded = license.subscription && (status === 'expired' || status === 'canceled');
  const endedAt = hasEnded ? (license.canceledAt ?? license.expiresAt ?? now) : null;
  return {
    refunded: license.refundedAt !== null,
    disputed: license.disputedAt !== null,
    chargebacked: license.disputedAt !== null,
    subscription_ended_at: formatTime(endedAt),
    subscription_cancelled_at: formatTime(license.canceledAt ?? license.cancelScheduledFor),
    subscription_failed_at: status === 'past_due' ? formatTime(license.expiresAt) : null,
  };
}

/** Without milliseconds, as Gumroad writes times. */
function formatTime(date: Date): string;
function formatTime(date: Date | null): string | null;
function formatTime(date: Date | null): string | null {
  return date === null ? null : `${date.toISOString().slice(0, -'.000Z'.length)}Z`;
}
