import { randomBytes } from 'node:crypto';

import { v7 as makeUuid } from 'uuid';

import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { generateLicenseKey } from '#server/lib/license-key.ts';

import { insertLicenses, type BilledFacts, type BilledTerms } from './queries/billed-licenses.ts';
import { insertLicenseKeys } from './queries/license-keys.ts';
import type { LicenseRecord } from './queries/licenses.ts';
import { sealLicenseKey } from './license-key.ts';

const HOUR_MS = 3_600_000;

/** A license that a purchase is to make. */
export type BilledOrder = Omit<BilledFacts, 'id' | 'terms'> & { readonly terms: BilledTerms };

/** What making licenses needs of the context. */
export type IssuingContext = Pick<Context, 'catalog' | 'clock' | 'config' | 'vault'>;

/**
 * Makes the licenses of purchases in a few statements, in the transaction of the caller: one license for each order, in
 * their order. Nothing was done by hand, so there is no audit row.
 */
export async function createBilledLicenses(
  ctx: IssuingContext,
  db: Queryable,
  orders: readonly BilledOrder[],
): Promise<LicenseRecord[]> {
  if (orders.length === 0) return [];
  const { keyPrefix } = ctx.catalog();
  const createdAt = ctx.clock.now();
  const revealUntil = new Date(createdAt.getTime() + ctx.config.billing.revealHours * HOUR_MS);
  const made = orders.map((order) => {
    const id = makeUuid();
    const licenseKey = generateLicenseKey(keyPrefix, randomBytes);
    const { keyHash, ...sealed } = sealLicenseKey(ctx, id, licenseKey);
    return { keyHash, license: { ...toRecord(order, id), createdAt, revealUntil, ...sealed } };
  });
  await insertLicenseKeys(
    db,
    made.map(({ keyHash, license }) => ({ keyHash, licenseId: license.id })),
  );
  const licenses = made.map(({ license }) => license);
  await insertLicenses(db, licenses);
  return licenses;
}

function toRecord(
  { terms, ...facts }: BilledOrder,
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
