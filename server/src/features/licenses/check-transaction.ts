import type { CheckedLicense, LicenseCheckResponse } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import { notFound } from '#server/errors.ts';

import type { LicenseRecord } from './queries/licenses.ts';
import { licenseStatus, publicExpiry } from './rules/status.ts';
import { licenseKeyLabel } from './seal-license-key.ts';

const HOUR_MS = 3_600_000;

const PENDING: LicenseCheckResponse = {
  license_key: null,
  status: 'pending',
  created_at: null,
  expires_at: null,
  product_type: null,
  licenses: [],
};

/**
 * What has become of a checkout: `pending` until its license exists. The key is shown for some hours only, because
 * transaction ids end up in receipts and browser histories, and never once the money went back.
 * @throws notFound (404) for the empty id, which names no checkout
 */
export async function checkTransaction(
  ctx: Context,
  transactionId: string,
): Promise<LicenseCheckResponse> {
  if (transactionId === '') throw notFound();
  const records = await ctx.batches.checks.submit(transactionId);
  const licenses = records.map((record) => toChecked(ctx, record));
  const [first] = licenses;
  if (first === undefined) return PENDING;
  return { ...first, licenses };
}

function toChecked(ctx: Context, license: LicenseRecord): CheckedLicense {
  const now = ctx.clock.now();
  return {
    license_key: isKeyShown(ctx, license, now)
      ? ctx.vault.open(license.keySealed, licenseKeyLabel(license.id))
      : null,
    status: licenseStatus(license, now),
    created_at: license.createdAt.toISOString(),
    expires_at: publicExpiry(license, now)?.toISOString() ?? null,
    product_type: ctx.catalog().products.get(license.productId)?.productType ?? null,
  };
}

function isKeyShown(ctx: Context, license: LicenseRecord, now: Date): boolean {
  if (license.refundedAt !== null || license.revokedAt !== null) return false;
  const shownForMs = ctx.config.billing.revealHours * HOUR_MS;
  return now.getTime() - license.createdAt.getTime() < shownForMs;
}
