import type { CheckedLicense, LicenseCheckResponse } from '@latchkey/contract';

import { notFound, rateLimited } from '#server/errors.ts';

import { CHECK_POLICY } from './check-limiter.ts';
import type { LicenseDependencies } from './dependencies.ts';
import type { CheckoutLicense } from './queries/licenses.ts';
import { licenseStatus, publicExpiry } from './rules/status.ts';
import { licenseKeyLabel } from './license-key.ts';

const PENDING: LicenseCheckResponse = {
  license_key: null,
  status: 'pending',
  created_at: null,
  expires_at: null,
  product_type: null,
  licenses: [],
};

/**
 * Returns the licenses of a checkout; `pending` until they exist. The key is shown for some hours only, because
 * transaction ids are visible in receipts and browser histories, never after a refund, and only for licenses that a
 * payment created: the transaction id of an imported or issued license may be an order number that is easy to guess. A
 * checkout that renewed a license does not show its key: the buyer has it, and others may name any license in a checkout.
 * @param clientAddress the client's IP address; it is refused when its network looks up many unknown checkouts
 * @throws notFound (404) for an empty id; rateLimited (429)
 */
export async function checkTransaction(
  deps: LicenseDependencies,
  transactionId: string,
  clientAddress: string,
): Promise<LicenseCheckResponse> {
  if (transactionId === '') throw notFound();
  await admitCheck(deps, transactionId, clientAddress);
  const records = await deps.batches.checks.submit(transactionId);
  const licenses = records.map((record) => toChecked(deps, record));
  const [first] = licenses;
  if (first === undefined) return PENDING;
  await deps.checkLimiter.recordFound(clientAddress, transactionId);
  return { ...first, licenses };
}

async function admitCheck(
  deps: LicenseDependencies,
  transactionId: string,
  clientAddress: string,
): Promise<void> {
  const retryAfterSeconds = await deps.checkLimiter.admit(clientAddress, transactionId);
  if (retryAfterSeconds === 0) return;
  deps.metrics.countRefusal('check', 'rate_limited');
  throw rateLimited(retryAfterSeconds, {
    'ratelimit-policy': `"${CHECK_POLICY.name}";q=${CHECK_POLICY.quota};w=${CHECK_POLICY.windowSeconds}`,
    ratelimit: `"${CHECK_POLICY.name}";r=0;t=${retryAfterSeconds}`,
  });
}

function toChecked(deps: LicenseDependencies, license: CheckoutLicense): CheckedLicense {
  const now = deps.clock.now();
  return {
    license_key: isKeyShown(license, now)
      ? deps.vault.open(license.keySealed, licenseKeyLabel(license.id))
      : null,
    status: licenseStatus(license, now),
    created_at: license.createdAt.toISOString(),
    expires_at: publicExpiry(license, now)?.toISOString() ?? null,
    product_type: deps.catalog().products.get(license.productId)?.productType ?? null,
    ...(license.isRenewed ? { renewed: true } : {}),
  };
}

function isKeyShown(license: CheckoutLicense, now: Date): boolean {
  const { refundedAt, revokedAt, revealUntil, isRenewed } = license;
  if (refundedAt !== null || revokedAt !== null || isRenewed) return false;
  return revealUntil !== null && now < revealUntil;
}
