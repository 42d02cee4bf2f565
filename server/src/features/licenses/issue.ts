import { randomBytes } from 'node:crypto';

import { v7 as makeUuid } from 'uuid';

import type { Clock } from '#server/clock.ts';
import type { Product } from '#server/config/catalog.ts';
import type { Config } from '#server/config/config.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { generateLicenseKey } from '#server/lib/license-key.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { recordLicenseChanges } from '../outgoing-webhooks/record-events.ts';
import type { LicenseChangeDependencies, LicenseKeyDependencies } from './dependencies.ts';
import type { BilledFacts, BilledTerms } from './queries/billed-licenses.ts';
import { insertLicenseKey, insertLicenseKeys } from './queries/license-keys.ts';
import { insertLicenseNames, type LicenseName } from './queries/license-names.ts';
import { upsertLicenseTransactions } from './queries/license-transactions.ts';
import { manualUpdates, upsertLicenseUpdates } from './queries/license-updates.ts';
import { insertLicenses, type LicenseRecord } from './queries/licenses.ts';
import { takeKeys } from './key-pool.ts';
import { sealLicenseKey } from './license-key.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A license to create; omitted values follow the product. */
export interface NewLicense {
  readonly product: Product;
  /** Null is perpetual. Default: the product's term starts now. */
  readonly expiresAt?: Date | null;
  readonly maxActivations?: number;
  /** Null: all updates. Default: the days of updates of the product start now. */
  readonly updatesUntil?: Date | null;
  /** Has a grace period after its end. Default: false. */
  readonly subscription?: boolean;
  /** An existing key from elsewhere. Default: a generated key. */
  readonly licenseKey?: string;
  readonly transactionId?: string | null;
  /** The id of its subscription at the payment provider: a payment of it extends the license. */
  readonly subscriptionId?: string | null;
  /** The payment provider of both ids. Default: any. */
  readonly provider?: string | null;
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
 * @param afterIssue runs in the same transaction
 * @throws {Error} when the given key belongs to another license, or has a wrong checksum
 */
export async function issueLicense(
  deps: LicenseChangeDependencies,
  newLicense: NewLicense,
  actor: string,
  reason: string | null,
  afterIssue: (db: Queryable, issued: IssuedLicense) => Promise<void> = async () => {},
): Promise<IssuedLicense> {
  const change = { actor, reason };
  const [issued] = await issueLicenses(deps, newLicense, 1, change, afterIssue);
  if (issued === undefined) throw new Error('no license was issued');
  return issued;
}

/**
 * Issues several licenses manually, all or none, with an audit row for each.
 * @param afterIssue runs for each license in the same transaction
 */
export async function issueLicenses(
  deps: LicenseChangeDependencies,
  newLicense: NewLicense,
  count: number,
  { actor, reason }: { readonly actor: string; readonly reason: string | null },
  afterIssue: (db: Queryable, issued: IssuedLicense) => Promise<void> = async () => {},
): Promise<IssuedLicense[]> {
  return inTransaction(deps.pool, async (client) => {
    const all: IssuedLicense[] = [];
    while (all.length < count) {
      const issued = await createLicense(deps, client, newLicense);
      await afterIssue(client, issued);
      all.push(issued);
    }
    const occurredAt = all[0]?.license.createdAt ?? deps.clock.now();
    const changes = all.map(({ license }) => ({ before: null, after: license }));
    await recordLicenseChanges(deps, client, changes, occurredAt);
    for (const { license } of all) {
      const details = { product: newLicense.product.id, key_hint: license.keyHint };
      const entry = { occurredAt, actor, reason, subjectId: license.id, details };
      await insertAuditEntry(client, { ...entry, action: 'license.issue' });
    }
    return all;
  });
}

/** Creates a license in the transaction of the caller. */
async function createLicense(
  deps: LicenseChangeDependencies,
  db: Queryable,
  newLicense: NewLicense,
): Promise<IssuedLicense> {
  const { product } = newLicense;
  const createdAt = deps.clock.now();
  const facts = {
    productId: product.id,
    tier: product.tier,
    features: product.features,
    maxActivations: newLicense.maxActivations ?? product.maxActivations,
    subscription: newLicense.subscription ?? false,
    expiresAt:
      newLicense.expiresAt === undefined
        ? addDays(createdAt, product.durationDays)
        : newLicense.expiresAt,
    updatesUntil:
      newLicense.updatesUntil === undefined
        ? findUpdatesEnd(product, createdAt)
        : newLicense.updatesUntil,
    customerEmail: newLicense.customerEmail ?? null,
    customerName: newLicense.customerName ?? null,
    note: newLicense.note ?? null,
    createdAt,
  };
  const id = makeUuid();
  const givenKey = newLicense.licenseKey ?? (await takeKey(deps, db, product.id, id));
  const { license, licenseKey, keyHash } = draftLicense(deps, facts, givenKey, id);
  const { id: licenseId } = license;
  if (!(await insertLicenseKey(db, { keyHash, licenseId }))) throw new LicenseKeyTakenError();
  await insertLicenses(db, [license]);
  if (newLicense.transactionId != null) {
    const { transactionId } = newLicense;
    await upsertLicenseTransactions(db, [{ transactionId, licenseId, position: 0 }]);
  }
  if (license.updatesUntil !== null) {
    await upsertLicenseUpdates(db, [manualUpdates(licenseId, license.updatesUntil, createdAt)]);
  }
  const names = listNames(newLicense, license);
  if (names.length > 0) await insertLicenseNames(db, names);
  return { license, licenseKey };
}

/** Takes a key from the pool of the product, if it has one. @throws PoolEmptyError */
async function takeKey(
  deps: LicenseChangeDependencies,
  db: Queryable,
  productId: string,
  licenseId: string,
): Promise<string | undefined> {
  if (!takesPoolKey(deps, productId)) return undefined;
  const taken = await takeKeys(deps, db, [{ licenseId, productId }]);
  const key = taken.get(licenseId);
  if (key === undefined) throw new PoolEmptyError(productId);
  return key;
}

/** The pool of a product has no free key. */
export class PoolEmptyError extends Error {
  constructor(productId: string) {
    super(`the pool of ${productId} has no free key: add keys with latchkey pool add`);
    this.name = 'PoolEmptyError';
  }
}

/** Lists the names by which a purchase finds the license. */
export function listNames(
  {
    transactionId = null,
    subscriptionId = null,
    provider = null,
  }: Pick<NewLicense, 'transactionId' | 'subscriptionId' | 'provider'>,
  { id: licenseId, subscription, expiresAt }: LicenseRecord,
): LicenseName[] {
  const ids = [
    { kind: 'transaction' as const, name: transactionId },
    { kind: 'subscription' as const, name: subscriptionId },
  ];
  const names = ids.flatMap(({ kind, name }) =>
    name === null ? [] : [{ licenseId, kind, name, provider }],
  );
  const isUnnamed = subscription && subscriptionId === null && names.length > 0;
  if (!isUnnamed || expiresAt === null) return names;
  return [...names, { licenseId, kind: 'renewal', name: expiresAt.toISOString(), provider }];
}

/** The given key belongs to another license. */
class LicenseKeyTakenError extends Error {
  constructor() {
    super('the key belongs to another license already');
    this.name = 'LicenseKeyTakenError';
  }
}

/** Returns the end of the updates that a product includes; null: all. */
export function findUpdatesEnd({ updatesDays }: Product, from: Date): Date | null {
  return addDays(from, updatesDays ?? null);
}

/** Returns the end of a term of a product; null: it has none. */
function addDays(from: Date, days: number | null): Date | null {
  return days === null ? null : new Date(from.getTime() + days * DAY_MS);
}

/** A license that a purchase creates. */
export type NewBilledLicense = Omit<BilledFacts, 'id' | 'terms'> & {
  /** Whether it is bought in a provider's test mode. */
  readonly isTest: boolean;
  readonly terms: BilledTerms & { readonly tier: string; readonly features: readonly string[] };
};

export interface BilledLicenseDependencies extends LicenseKeyDependencies {
  readonly clock: Clock;
  readonly config: Pick<Config, 'billing'>;
}

/**
 * Creates the licenses of purchases in a few statements, in the transaction of the caller. Returns them in the order of
 * `newLicenses`, null for one whose pool has no free key. No operator acts, so there is no audit row.
 */
export async function createBilledLicenses(
  deps: BilledLicenseDependencies,
  db: Queryable,
  newLicenses: readonly NewBilledLicense[],
): Promise<(LicenseRecord | null)[]> {
  if (newLicenses.length === 0) return [];
  const createdAt = deps.clock.now();
  const revealUntil = new Date(createdAt.getTime() + deps.config.billing.revealHours * HOUR_MS);
  const planned = newLicenses.map((each) => ({ ...each, id: makeUuid() }));
  const pooled = planned.filter((each) => !each.isTest && takesPoolKey(deps, each.terms.productId));
  const taken = await takeKeys(
    deps,
    db,
    pooled.map(({ id, terms }) => ({ licenseId: id, productId: terms.productId })),
  );
  const isWithoutKey = new Set(pooled.map(({ id }) => id).filter((id) => !taken.has(id)));
  const drafts = planned.map(({ terms, id, ...facts }) =>
    isWithoutKey.has(id)
      ? null
      : draftLicense(deps, { ...terms, ...facts, createdAt, revealUntil }, taken.get(id), id),
  );
  const complete = drafts.filter((draft) => draft !== null);
  await insertLicenseKeys(
    db,
    complete.map(({ keyHash, license }) => ({ keyHash, licenseId: license.id })),
  );
  await insertLicenses(
    db,
    complete.map(({ license }) => license),
  );
  return drafts.map((draft) => draft?.license ?? null);
}

/** Whether licenses of a product take their keys from its pool. */
function takesPoolKey({ catalog }: LicenseKeyDependencies, productId: string): boolean {
  return catalog().products.get(productId)?.keysFrom === 'pool';
}

/** A license that is not stored yet, with its key in plain text. */
export interface LicenseDraft extends IssuedLicense {
  /** The hash by which the license is found. */
  readonly keyHash: string;
}

/** Facts that are null or false for most new licenses. */
const UNSET = {
  trial: false,
  subscription: false,
  updatesUntil: null,
  cancelScheduledFor: null,
  canceledAt: null,
  pausedAt: null,
  suspendedAt: null,
  disputedAt: null,
  refundedAt: null,
  revokedAt: null,
  customerEmail: null,
  customerName: null,
  note: null,
  isTest: false,
  revealUntil: null,
};

type DraftFacts = Omit<LicenseRecord, 'id' | 'keySealed' | 'keyHint' | keyof typeof UNSET> &
  Partial<Pick<LicenseRecord, keyof typeof UNSET>>;

/**
 * Builds a license without storing it.
 * @param licenseKey default: a generated key
 * @param id default: a new one
 */
export function draftLicense(
  deps: LicenseKeyDependencies,
  facts: DraftFacts,
  licenseKey: string = generateLicenseKey(deps.catalog().keyPrefix, randomBytes),
  id: string = makeUuid(),
): LicenseDraft {
  const { keyHash, ...sealed } = sealLicenseKey(deps, id, licenseKey);
  return { license: { ...UNSET, ...facts, id, ...sealed }, licenseKey, keyHash };
}
