import type { Pool } from 'pg';
import type { Logger } from 'pino';

import type { Clock } from '#server/clock.ts';
import { licenseNotFound } from '#server/errors.ts';
import type { Vault } from '#server/lib/vault.ts';

import { listAuditEntries, type AuditEntry } from '../audit/queries.ts';
import type { RecordedAccess } from '../audit/record-access.ts';
import type { LicenseChangeDependencies } from './dependencies.ts';
import { resolveLicenseId } from './find-license.ts';
import { licenseKeyLabel } from './license-key.ts';
import { listActivationsOf, type ActivationRecord } from './queries/activations.ts';
import { listLicensePage, type LicenseFilter, type ListPage } from './queries/license-list.ts';
import { findLicense, type LicenseRecord } from './queries/licenses.ts';
import { countMoves } from './queries/moves.ts';
import { readMoveAllowance, type MoveAllowance } from './rules/decide-activation.ts';
import type { LicenseTerms } from './rules/facts.ts';
import { licenseStatus, publicExpiry, type LicenseStatus } from './rules/status.ts';
import { readTerms } from './terms.ts';

const MAX_LISTED = 1_000;

/** A license in a list, with its status at that time. */
export interface ListedLicense {
  readonly license: LicenseRecord;
  readonly status: LicenseStatus;
  readonly expiresAt: Date | null;
}

/** A license as operators see it. */
export interface LicenseOverview extends ListedLicense {
  readonly terms: LicenseTerms;
  readonly activations: readonly ActivationRecord[];
  readonly moves: LicenseMoves;
  readonly history: readonly Pick<AuditEntry, 'occurredAt' | 'actor' | 'action' | 'reason'>[];
}

/** How often the machines of a license changed within the period of its limit. */
export interface LicenseMoves extends MoveAllowance {
  readonly used: number;
  /** Unused moves that an operator allowed beyond the limit. */
  readonly extra: number;
}

/**
 * Returns everything about a license but its key.
 * @param keyOrId the license's key or id
 * @throws licenseNotFound
 */
export async function showLicense(
  deps: LicenseChangeDependencies,
  keyOrId: string,
): Promise<LicenseOverview> {
  const id = await resolveLicenseId(deps, keyOrId);
  const license = id === null ? null : await findLicense(deps.pool, id);
  if (license === null) throw licenseNotFound();
  const now = deps.clock.now();
  const moves = deps.catalog().products.get(license.productId)?.moves;
  const allowance = readMoveAllowance(license, moves, now);
  return {
    ...toListed(license, now),
    terms: await readTerms(deps.pool, deps.catalog(), license),
    moves: { ...allowance, ...(await countMoves(deps.pool, license.id, allowance)) },
    activations: await listActivationsOf(deps.pool, license.id, MAX_LISTED),
    history: await listAuditEntries(deps.pool, license.id),
  };
}

/**
 * Unseals the key of a license.
 * @param _access the audit row of this access
 */
export function revealLicenseKey(
  { vault }: { readonly vault: Vault },
  license: LicenseRecord,
  _access: RecordedAccess,
): string {
  return vault.open(license.keySealed, licenseKeyLabel(license.id));
}

/**
 * Unseals the key of a license for a file of many. A key that cannot be unsealed is null and logged, so that one damaged row does
 * not end the file. It is no text, which an import would take as a key.
 * @param access the audit row of the file
 */
export function revealOrSkip(
  deps: { readonly log: Logger; readonly vault: Vault },
  license: LicenseRecord,
  access: RecordedAccess,
): string | null {
  try {
    return revealLicenseKey(deps, license, access);
  } catch (error) {
    deps.log.error(
      { event: 'license.key_unreadable', licenseId: license.id, err: error },
      'could not unseal the key of a license for an export',
    );
    return null;
  }
}

/** A page of licenses, newest first. */
export interface LicensePage {
  readonly licenses: readonly ListedLicense[];
  /** The cursor of the next page; null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * Lists licenses, newest first, by pages. Licenses added between two pages do not shift them; a license whose status
 * changes between two pages may be in either or none.
 */
export async function listLicenses(
  { clock, pool }: { readonly clock: Clock; readonly pool: Pool },
  filter: LicenseFilter,
  { afterId, limit }: ListPage,
): Promise<LicensePage> {
  const now = clock.now();
  // One more than the page shows whether there is another page.
  const found = await listLicensePage(pool, filter, { afterId, limit: limit + 1 }, now);
  const page = found.slice(0, limit);
  return {
    licenses: page.map((license) => toListed(license, now)),
    nextCursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

function toListed(license: LicenseRecord, now: Date): ListedLicense {
  return {
    license,
    status: licenseStatus(license, now),
    expiresAt: publicExpiry(license, now),
  };
}
