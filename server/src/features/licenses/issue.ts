import { randomBytes } from 'node:crypto';

import { v7 as makeUuid } from 'uuid';

import type { Product } from '#server/config/catalog.ts';
import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { generateLicenseKey } from '#server/lib/license-key.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { recordLicenseChanges } from '../outgoing-webhooks/record-events.ts';
import { insertLicenseKey } from './queries/license-keys.ts';
import { insertLicenseTransaction } from './queries/license-transactions.ts';
import { insertLicense, type LicenseRecord } from './queries/licenses.ts';
import { sealLicenseKey } from './license-key.ts';

const DAY_MS = 86_400_000;

/** What a license is made from; whatever is left out follows the product. */
export interface LicenseOrder {
  readonly product: Product;
  /** Null is perpetual; left out, the product's own term begins now. */
  readonly expiresAt?: Date | null;
  readonly maxActivations?: number;
  /** It has days of grace after its end; left out, it has none. */
  readonly subscription?: boolean;
  /** A key made elsewhere; left out, a new one is made. */
  readonly licenseKey?: string;
  readonly transactionId?: string | null;
  readonly customerEmail?: string | null;
  readonly customerName?: string | null;
  readonly note?: string | null;
}

/** A new license with its key in plain: later the key has to be unsealed. */
export interface IssuedLicense {
  readonly license: LicenseRecord;
  readonly licenseKey: string;
}

/**
 * Makes a license by hand and leaves an audit row.
 * @param actor who did it
 * @param reason why, for the audit log
 * @throws {Error} when the given key belongs to another license, or has a wrong checksum
 */
export async function issueLicense(
  ctx: Context,
  order: LicenseOrder,
  actor: string,
  reason: string | null,
): Promise<IssuedLicense> {
  return inTransaction(ctx.pool, async (client) => {
    const issued = await createLicense(ctx, client, order);
    await insertAuditEntry(client, {
      occurredAt: issued.license.createdAt,
      actor,
      action: 'license.issue',
      subjectId: issued.license.id,
      reason,
      details: { product: order.product.id, key_hint: issued.license.keyHint },
    });
    const made = { before: null, after: issued.license };
    await recordLicenseChanges(ctx, client, [made], issued.license.createdAt);
    return issued;
  });
}

/** Makes a license in the transaction of the caller. */
export async function createLicense(
  ctx: Context,
  db: Queryable,
  order: LicenseOrder,
): Promise<IssuedLicense> {
  const id = makeUuid();
  const licenseKey = order.licenseKey ?? generateLicenseKey(ctx.catalog().keyPrefix, randomBytes);
  const { keyHash, ...sealed } = sealLicenseKey(ctx, id, licenseKey);
  const license = { ...toRecord(order, id, ctx.clock.now()), ...sealed };
  if (!(await insertLicenseKey(db, { keyHash, licenseId: id }))) throw new LicenseKeyTakenError();
  await insertLicense(db, license);
  if (order.transactionId != null) {
    const { transactionId } = order;
    await insertLicenseTransaction(db, { transactionId, licenseId: id, position: 0 });
  }
  return { license, licenseKey };
}

/** A key that was given from outside belongs to a license already. */
export class LicenseKeyTakenError extends Error {
  constructor() {
    super('the key belongs to another license already');
    this.name = 'LicenseKeyTakenError';
  }
}

/** The end of the product's own term when it begins at a moment; null is perpetual. */
function endOfTerm(product: Product, from: Date): Date | null {
  if (product.durationDays === null) return null;
  return new Date(from.getTime() + product.durationDays * DAY_MS);
}

function toRecord(
  order: LicenseOrder,
  id: string,
  createdAt: Date,
): Omit<LicenseRecord, 'keySealed' | 'keyHint'> {
  const { product } = order;
  return {
    id,
    productId: product.id,
    tier: product.tier,
    features: product.features,
    maxActivations: order.maxActivations ?? product.maxActivations,
    trial: false,
    subscription: order.subscription ?? false,
    expiresAt: order.expiresAt === undefined ? endOfTerm(product, createdAt) : order.expiresAt,
    cancelScheduledFor: null,
    canceledAt: null,
    pausedAt: null,
    suspendedAt: null,
    disputedAt: null,
    refundedAt: null,
    revokedAt: null,
    customerEmail: order.customerEmail ?? null,
    customerName: order.customerName ?? null,
    note: order.note ?? null,
    createdAt,
    revealUntil: null,
  };
}
