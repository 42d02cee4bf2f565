import { v7 as makeUuid } from 'uuid';

import type { Queryable } from '#server/db/statement.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import { addKeys } from '../licenses/added-keys.ts';
import { draftLicense, findUpdatesEnd, listNames, type LicenseDraft } from '../licenses/issue.ts';
import { insertImportedSeats } from '../licenses/queries/imported-seats.ts';
import { insertLicenseKeys } from '../licenses/queries/license-keys.ts';
import { insertLicenseNames } from '../licenses/queries/license-names.ts';
import { manualUpdates, upsertLicenseUpdates } from '../licenses/queries/license-updates.ts';
import { upsertLicenseTransactions } from '../licenses/queries/license-transactions.ts';
import { insertLicenses } from '../licenses/queries/licenses.ts';
import type { ImportDependencies } from './dependencies.ts';
import type { EvaluatedRow } from './evaluate-batch.ts';
import type { ImportSource } from './facts.ts';
import {
  insertImportedLicenses,
  updateImportedEnd,
  type ImportedLicenseRecord,
} from './queries/imported-licenses.ts';
import { extendImportedLicense } from './queries/extensions.ts';
import type { EvaluatedLicense } from './rules/decide-row.ts';
import { digestLicense } from './rules/plan-license.ts';

const DAY_MS = 86_400_000;

/** How long a seat of the previous system counts as a machine that the license knows. */
export const SEAT_DAYS = 90;

export interface StoreOptions {
  readonly importId: string;
  readonly source: ImportSource;
  readonly sendKeys: boolean;
}

interface CreatedLicense {
  readonly planned: EvaluatedLicense;
  readonly draft: LicenseDraft;
}

/** Stores what was decided about the rows of a batch, in the transaction of the caller. */
export async function storeBatch(
  deps: ImportDependencies,
  db: Queryable,
  rows: readonly EvaluatedRow[],
  options: StoreOptions,
): Promise<void> {
  const now = deps.clock.now();
  const created = rows.flatMap(({ outcome, license }) =>
    outcome === 'new' && license !== null
      ? [{ planned: license, draft: toDraft(deps, license, now) }]
      : [],
  );
  await insertCreated(db, created, now);
  const existing = rows.flatMap(toAddedKey);
  await addKeys(
    deps,
    db,
    existing.map(({ key }) => key),
    { importId: options.importId, addedAt: now },
  );
  const seats = [
    ...created.flatMap(({ planned, draft }) => listSeats(planned, draft.license.id)),
    ...existing.flatMap(({ planned, key }) => listSeats(planned, key.licenseId)),
  ];
  const countsUntil = new Date(now.getTime() + SEAT_DAYS * DAY_MS);
  await insertImportedSeats(db, seats, options.importId, countsUntil);
  await insertImportedLicenses(db, [
    ...created.map(({ planned, draft }) => toRecord(planned, draft.license.id, true, options)),
    ...listUnlisted(rows, options),
  ]);
  await extendRenewed(db, rows, options, now);
  if (options.sendKeys) await queueKeys(db, created, now);
}

/** Moves the ends of licenses that were renewed in their source. */
async function extendRenewed(
  db: Queryable,
  rows: readonly EvaluatedRow[],
  { importId, source }: StoreOptions,
  now: Date,
): Promise<void> {
  for (const { outcome, license, existing, importedEnd } of rows) {
    if (outcome !== 'renewed' || license === null || existing === null) continue;
    const { expiresAt, knownAs: sourceId } = license;
    const extension = { licenseId: existing.id, importId, expiresAt, extendedAt: now };
    await extendImportedLicense(db, { ...extension, importedExpiresAt: importedEnd });
    await updateImportedEnd(db, { source, sourceId }, expiresAt);
  }
}

function toDraft(deps: ImportDependencies, planned: EvaluatedLicense, now: Date): LicenseDraft {
  const { product, licenseKey } = planned;
  const facts = {
    productId: product.id,
    tier: product.tier,
    features: product.features,
    maxActivations: planned.maxActivations,
    subscription: planned.subscription,
    expiresAt: planned.expiresAt,
    updatesUntil:
      planned.updatesUntil === 'unknown'
        ? findUpdatesEnd(product, planned.createdAt ?? now)
        : planned.updatesUntil,
    cancelScheduledFor: planned.cancelScheduledFor,
    canceledAt: planned.canceledAt,
    pausedAt: planned.pausedAt,
    suspendedAt: planned.suspendedAt,
    disputedAt: planned.disputedAt,
    refundedAt: planned.refundedAt,
    revokedAt: planned.revokedAt,
    customerEmail: planned.customerEmail,
    customerName: planned.customerName,
    note: planned.note,
    createdAt: now,
  };
  return draftLicense(deps, facts, licenseKey ?? undefined);
}

async function insertCreated(
  db: Queryable,
  created: readonly CreatedLicense[],
  now: Date,
): Promise<void> {
  if (created.length === 0) return;
  await insertLicenseKeys(
    db,
    created.flatMap(({ planned, draft }) => {
      const hashes = new Set([draft.keyHash, ...planned.keyHashes]);
      return Array.from(hashes, (keyHash) => ({ keyHash, licenseId: draft.license.id }));
    }),
  );
  await insertLicenses(
    db,
    created.map(({ draft }) => draft.license),
  );
  const updates = created.flatMap(({ draft: { license } }) =>
    license.updatesUntil === null ? [] : [manualUpdates(license.id, license.updatesUntil, now)],
  );
  if (updates.length > 0) await upsertLicenseUpdates(db, updates);
  await upsertLicenseTransactions(db, created.flatMap(listTransactions));
  const names = created.flatMap(({ planned, draft }) => listNames(planned, draft.license));
  await insertLicenseNames(db, names);
}

function listTransactions({ planned: { transactionId }, draft }: CreatedLicense) {
  if (transactionId === null) return [];
  return [{ transactionId, licenseId: draft.license.id, position: 0 }];
}

/** The key of a row whose license exists, and works with it from now on. */
function toAddedKey({ outcome, license: planned, existing }: EvaluatedRow) {
  if (outcome !== 'key_added' || planned === null || existing === null) return [];
  const { licenseKey, keyHashes } = planned;
  if (licenseKey === null) return [];
  return [{ planned, key: { licenseId: existing.id, licenseKey, keyHashes } }];
}

function listSeats({ seats }: EvaluatedLicense, licenseId: string) {
  return seats.map((device) => ({
    licenseId,
    id: makeUuid(),
    instanceId: device?.id ?? null,
    label: device?.label ?? null,
    lastSeenAt: device?.lastSeenAt ?? null,
  }));
}

/** Lists the licenses that exist and are in no import yet, so that the next import knows them by their ids. */
function listUnlisted(
  rows: readonly EvaluatedRow[],
  options: StoreOptions,
): ImportedLicenseRecord[] {
  return rows.flatMap(({ isUnlisted, license, existing }) =>
    isUnlisted && license !== null && existing !== null
      ? [toRecord(license, existing.id, false, options)]
      : [],
  );
}

function toRecord(
  license: EvaluatedLicense,
  licenseId: string,
  isCreated: boolean,
  { importId, source }: StoreOptions,
): ImportedLicenseRecord {
  return {
    source,
    sourceId: license.knownAs,
    importId,
    licenseId,
    isCreated,
    digest: digestLicense(license),
    expiresAt: license.expiresAt,
    sourceCreatedAt: license.createdAt,
    details: license.details,
  };
}

/** Queues the e-mails with the keys of usable licenses. */
async function queueKeys(
  db: Queryable,
  created: readonly CreatedLicense[],
  now: Date,
): Promise<void> {
  const requestedAt = now.toISOString();
  await addJobs(
    db,
    created
      .filter(({ planned }) => isMailed(planned, now))
      .map(({ draft: { license } }) => ({
        name: 'send_license_key' as const,
        payload: { licenseId: license.id, requestedAt, isRepeat: false },
        key: license.id,
      })),
  );
}

function isMailed({ customerEmail, expiresAt, ...facts }: EvaluatedLicense, now: Date): boolean {
  if (customerEmail === null || (expiresAt !== null && expiresAt <= now)) return false;
  const { suspendedAt, disputedAt, refundedAt, revokedAt, canceledAt } = facts;
  return [suspendedAt, disputedAt, refundedAt, revokedAt, canceledAt].every((at) => at === null);
}
