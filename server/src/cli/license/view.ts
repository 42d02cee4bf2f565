import type { LicenseRecord } from '#server/features/licenses/queries/licenses.ts';
import {
  type LicenseStatus,
  licenseStatus,
  publicExpiry,
} from '#server/features/licenses/rules/status.ts';

import type { Cell } from '../output.ts';

/** A license and what its facts mean now. */
interface ViewedLicense {
  readonly license: LicenseRecord;
  readonly status: LicenseStatus;
  readonly expiresAt: Date | null;
}

/** Reads a license's status at a moment. */
export function viewLicense(license: LicenseRecord, now: Date): ViewedLicense {
  return { license, status: licenseStatus(license, now), expiresAt: publicExpiry(license, now) };
}

/** A license for programs, in the words of the interface. */
export function toLicenseJson({ license, status, expiresAt }: ViewedLicense) {
  return {
    license_id: license.id,
    key_hint: license.keyHint,
    product: license.productId,
    tier: license.tier,
    features: license.features,
    status,
    disputed_at: license.disputedAt,
    expires_at: expiresAt,
    max_activations: license.maxActivations,
    trial: license.trial,
    subscription: license.subscription,
    customer_email: license.customerEmail,
    customer_name: license.customerName,
    note: license.note,
    created_at: license.createdAt,
  };
}

/** A license for people. */
export function toLicenseFields(viewed: ViewedLicense): (readonly [string, Cell])[] {
  const { license, status, expiresAt } = viewed;
  const inDispute = status === 'suspended' && license.disputedAt !== null;
  const customer = [license.customerName, license.customerEmail].filter((text) => text !== null);
  return [
    ['license', license.id],
    ['key', `…${license.keyHint}`],
    ['product', license.productId],
    ['status', inDispute ? 'suspended: its payment is in dispute' : status],
    ['expires', expiresAt ?? 'never'],
    ['machines', `at most ${license.maxActivations}`],
    ['customer', customer.length === 0 ? null : customer.join(', ')],
    ['note', license.note],
    ['created', license.createdAt],
  ];
}
