import { randomBytes } from 'node:crypto';

import { v7 as makeUuid } from 'uuid';

import type { Product } from '#server/config/catalog.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { generateLicenseKey } from '#server/lib/license-key.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { recordLicenseChanges } from '../outgoing-webhooks/record-events.ts';
import type { LicenseChangeDependencies } from './dependencies.ts';
import { insertLicenseKey } from './queries/license-keys.ts';
import { upsertLicenseTransactions } from './queries/license-transactions.ts';
import { insertLicenses, type LicenseRecord } from './queries/licenses.ts';
import { sealLicenseKey } from './license-key.ts';

const DAY_MS = 86_400_000;

/** A license to create; omitted values follow the product. */
export interface NewLicense {
  readonly product: Product;
  /** Null is perpetual. Default: the product's term begins now. */
  readonly expiresAt?: Date | null;
  readonly maxActivations?: number;
  /** Has a grace period after its end. Default: false. */
  readonly subscription?: boolean;
  /** An existing key from elsewhere. Default: a generated key. */
  readonly licenseKey?: string;
  readonly transactionId?: string | null;
  readonly customerEmail?: string | null;
  readonly customerName?: string | null;
  readonly note?: string | null;
}

/** A new license and its key in plain text; later the key must be unsealed. */
export interface IssuedLicense {
  readonly license: LicenseRecord;
  readonly licenseKey: string;
}

/**
 * Issues a license manually, with an audit row.
 * @throws {Error} when the given key belongs to another license, or has a wrong checksum
 */
export async function issueLicense(
  deps: LicenseChangeDependencies,
  order: NewLicense,
  actor: string,
  reason: string | null,
): Promise<IssuedLicense> {
  return inTransaction(deps.pool, async (client) => {
    const issued = await createLicense(deps, client, order);
    await insertAuditEntry(client, {
      occurredAt: issued.license.createdAt,
      actor,
      action: 'license.issue',
      subjectId: issued.license.id,
      reason,
      details: { product: order.product.id, key_hint: issued.license.keyHint },
    });
    const change = { before: null, after: issued.license };
    await recordLicenseChanges(deps, client, [change], issued.license.createdAt);
    return issued;
  });
}

/** Creates a license in the transaction of the caller. */
export async function createLicense(
  deps: LicenseChangeDependencies,
  db: Queryable,
  order: NewLicense,
): Promise<IssuedLicense> {
  const id = makeUuid();
  const licenseKey = order.licenseKey ?? generateLicenseKey(deps.catalog().keyPrefix, randomBytes);
  const { keyHash, ...sealed } = sealLicenseKey(deps, id, licenseKey);
  const license = { ...toRecord(order, id, deps.clock.now()), ...sealed };
  if (!(await insertLicenseKey(db, { keyHash, licenseId: id }))) throw new LicenseKeyTakenError();
  await insertLicenses(db, [license]);
  if (order.transactionId != null) {
    const { transactionId } = order;
    await upsertLicenseTransactions(db, [{ transactionId, licenseId: id, position: 0 }]);
  }
  return { license, licenseKey };
}

/** The given key belongs to another license. */
export class LicenseKeyTakenError extends Error {
  constructor() {
    super('the key belongs to another license already');
    this.name = 'LicenseKeyTakenError';
  }
}

/** Returns the end of a product's term that begins at a date; null is perpetual. */
function endOfTerm(product: Product, from: Date): Date | null {
  if (product.durationDays === null) return null;
  return new Date(from.getTime() + product.durationDays * DAY_MS);
}

function toRecord(
  order: NewLicense,
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
