import type { Context } from '#server/context.ts';

import { listLicensePage, type LicenseFilter, type ListPage } from './queries/license-list.ts';
import type { LicenseRecord } from './queries/licenses.ts';
import { licenseStatus, publicExpiry, type LicenseStatus } from './rules/status.ts';

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
