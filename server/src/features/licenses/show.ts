import type { Context } from '#server/context.ts';
import { licenseNotFound } from '#server/errors.ts';

import { listAuditEntries, type AuditEntry } from '../audit/queries.ts';
import type { RecordedAccess } from '../audit/record-access.ts';
import { resolveLicenseId } from './find-license.ts';
import { licenseKeyLabel } from './license-key.ts';
import { listActivationsOf, type ActivationRecord } from './queries/activations.ts';
import { listLicensePage, type LicenseFilter, type ListPage } from './queries/license-list.ts';
import { findLicense, type LicenseRecord } from './queries/licenses.ts';
import { countMoves } from './queries/moves.ts';
import { readMoveAllowance, type MoveAllowance } from './rules/decide-activation.ts';
import type { LicenseTerms } from './rules/facts.ts';
import { publicExpiry, licenseStatus, type LicenseStatus } from './rules/status.ts';
import { readTerms } from './terms.ts';

const MAX_LISTED = 1_000;

/** How often the machines of a license changed within the period of its limit. */
export interface LicenseMoves extends MoveAllowance {
  readonly made: number;
  /** Allowed by an operator beyond the limit, and not used yet. */
  readonly extra: number;
}

/** A license as its operator sees it. */
export interface LicenseOverview {
  readonly license: LicenseRecord;
  readonly status: LicenseStatus;
  readonly expiresAt: Date | null;
  readonly terms: LicenseTerms;
  readonly activations: readonly ActivationRecord[];
  readonly moves: LicenseMoves;
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
    moves: await readMoves(ctx, license, now),
    activations: await listActivationsOf(ctx.pool, license.id, MAX_LISTED),
    history: await listAuditEntries(ctx.pool, license.id),
  };
}

async function readMoves(ctx: Context, license: LicenseRecord, now: Date): Promise<LicenseMoves> {
  const product = ctx.catalog().products.get(license.productId);
  const allowance = readMoveAllowance(license, product?.moves, now);
  return { ...allowance, ...(await countMoves(ctx.pool, license.id, allowance.since)) };
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

/** A license of a list, and what its facts mean at the moment of the list. */
export interface ListedLicense {
  readonly license: LicenseRecord;
  readonly status: LicenseStatus;
  readonly expiresAt: Date | null;
}

/** A page of licenses, newest first. */
export interface LicensePage {
  readonly licenses: readonly ListedLicense[];
  /** What the next page begins after; null: this is the last page. */
  readonly nextCursor: string | null;
}

/**
 * Lists licenses, newest first, page by page. Pages stay right while licenses are added; one whose status changes between
 * two pages may be in either or none.
 */
export async function listLicenses(
  { clock, pool }: Pick<Context, 'clock' | 'pool'>,
  filter: LicenseFilter,
  { afterId, limit }: ListPage,
): Promise<LicensePage> {
  const now = clock.now();
  // One more shows whether there is another page.
  const found = await listLicensePage(pool, filter, { afterId, limit: limit + 1 }, now);
  const page = found.slice(0, limit);
  return {
    licenses: page.map((license) => ({
      license,
      status: licenseStatus(license, now),
      expiresAt: publicExpiry(license, now),
    })),
    nextCursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}
