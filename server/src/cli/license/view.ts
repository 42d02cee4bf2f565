/** A license as the commands of `latchkey license` show it. */
import type { LicenseRecord } from '#server/features/licenses/queries/licenses.ts';
import { licenseStatus, publicExpiry } from '#server/features/licenses/rules/status.ts';
import type { ListedLicense } from '#server/features/licenses/show.ts';

import type { Cell } from '../table.ts';

export function viewLicense(license: LicenseRecord, now: Date): ListedLicense {
  return { license, status: licenseStatus(license, now), expiresAt: publicExpiry(license, now) };
}

/** A license as JSON, with the field names of the API. */
export function toLicenseJson({ license, status, expiresAt }: ListedLicense) {
  return {
    license_id: license.id,
    key_hint: license.keyHint,
    product: license.productId,
    tier: license.tier,
    features: license.features,
    status,
    disputed_at: license.disputedAt,
    expires_at: expiresAt,
    updates_until: license.updatesUntil,
    max_activations: license.maxActivations,
    trial: license.trial,
    subscription: license.subscription,
    customer_email: license.customerEmail,
    customer_name: license.customerName,
    note: license.note,
    is_test: license.isTest,
    created_at: license.createdAt,
  };
}

/** The fields of a license for the terminal, without its key. */
export function toLicenseFields(viewed: ListedLicense): (readonly [string, Cell])[] {
  const { license, status, expiresAt } = viewed;
  const inDispute = status === 'suspended' && license.disputedAt !== null;
  const customer = [license.customerName, license.customerEmail].filter((text) => text !== null);
  return [
    ['license', license.id],
    ['product', license.productId],
    ['status', inDispute ? 'suspended (payment in dispute)' : status],
    ['expires', expiresAt ?? 'never'],
    ...(license.updatesUntil === null ? [] : [['updates until', license.updatesUntil] as const]),
    ['machines', `at most ${license.maxActivations}`],
    ['customer', customer.length === 0 ? null : customer.join(', ')],
    ['note', license.note],
    ...(license.isTest ? ([['test', 'bought in the test mode of a provider']] as const) : []),
    ['created', license.createdAt],
  ];
}
