import { randomBytes } from 'node:crypto';

import { v7 as makeUuid } from 'uuid';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Queryable } from '#server/db/statement.ts';
import { generateLicenseKey } from '#server/lib/license-key.ts';

import type { LicenseKeyDependencies } from './dependencies.ts';
import type { BilledFacts, BilledTerms } from './queries/billed-licenses.ts';
import { insertLicenseKeys } from './queries/license-keys.ts';
import { insertLicenses, type LicenseRecord } from './queries/licenses.ts';
import { sealLicenseKey } from './license-key.ts';

const HOUR_MS = 3_600_000;

/** A license that a purchase creates. */
export type NewBilledLicense = Omit<BilledFacts, 'id' | 'terms'> & { readonly terms: BilledTerms };

export interface BilledLicenseDependencies extends LicenseKeyDependencies {
  readonly clock: Clock;
  readonly config: Pick<Config, 'billing'>;
}

/**
 * Creates the licenses of purchases in a few statements, in the transaction of the caller. Returns them in the order of
 * `orders`. No operator acts, so there is no audit row.
 */
export async function createBilledLicenses(
  deps: BilledLicenseDependencies,
  db: Queryable,
  orders: readonly NewBilledLicense[],
): Promise<LicenseRecord[]> {
  if (orders.length === 0) return [];
  const { keyPrefix } = deps.catalog();
  const createdAt = deps.clock.now();
  const revealUntil = new Date(createdAt.getTime() + deps.config.billing.revealHours * HOUR_MS);
  const created = orders.map((order) => {
    const id = makeUuid();
    const licenseKey = generateLicenseKey(keyPrefix, randomBytes);
    const { keyHash, ...sealed } = sealLicenseKey(deps, id, licenseKey);
    return { keyHash, license: { ...toRecord(order, id), createdAt, revealUntil, ...sealed } };
  });
  await insertLicenseKeys(
    db,
    created.map(({ keyHash, license }) => ({ keyHash, licenseId: license.id })),
  );
  const licenses = created.map(({ license }) => license);
  await insertLicenses(db, licenses);
  return licenses;
}

function toRecord(
  { terms, ...facts }: NewBilledLicense,
  id: string,
): Omit<LicenseRecord, 'createdAt' | 'revealUntil' | 'keySealed' | 'keyHint'> {
  return {
    id,
    ...terms,
    ...facts,
    trial: false,
    suspendedAt: null,
    revokedAt: null,
    note: null,
  };
}
