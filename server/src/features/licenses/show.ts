import type { Context } from '#server/context.ts';
import { licenseNotFound } from '#server/errors.ts';

import { listAuditEntries, type AuditEntry } from '../audit/queries.ts';
import type { RecordedAccess } from '../audit/record-access.ts';
import { listActivationsOf, type ActivationRecord } from './queries/activations.ts';
import { findLicense, type LicenseRecord } from './queries/licenses.ts';
import { resolveLicenseId } from './resolve-license.ts';
import type { LicenseTerms } from './rules/facts.ts';
import { publicExpiry, licenseStatus, type LicenseStatus } from './rules/status.ts';
import { licenseKeyLabel } from './seal-license-key.ts';
import { readTerms } from './terms.ts';

const MAX_LISTED = 1_000;

/** A license as its operator sees it. */
export interface LicenseOverview {
  readonly license: LicenseRecord;
  readonly status: LicenseStatus;
  readonly expiresAt: Date | null;
  readonly terms: LicenseTerms;
  readonly activations: readonly ActivationRecord[];
  readonly history: readonly Pick<AuditEntry, 'occurredAt' | 'actor' | 'action' | 'reason'>[];
}

/**
 * Everything about a license but its key.
 * @param keyOrId the license's key or id
 * @throws licenseNotFound
 */
export async function showLicense(ctx: Context, keyOrId: string): Promise<LicenseOverview> {
  const id = await resolveLicenseId(ctx, keyOrId);
  const license = id === null ? null : await findLicense(ctx.pool, id);
  if (license === null) throw licenseNotFound();
  const now = ctx.clock.now();
  return {
    license,
    status: licenseStatus(license, now),
    expiresAt: publicExpiry(license, now),
    terms: await readTerms(ctx.pool, ctx.catalog(), license),
    activations: await listActivationsOf(ctx.pool, license.id, MAX_LISTED),
    history: await listAuditEntries(ctx.pool, license.id),
  };
}

/**
 * The key of a license, unsealed.
 * @param _access the audit row of who is shown it
 */
export function revealLicenseKey(
  ctx: Pick<Context, 'vault'>,
  license: LicenseRecord,
  _access: RecordedAccess,
): string {
  return ctx.vault.open(license.keySealed, licenseKeyLabel(license.id));
}
