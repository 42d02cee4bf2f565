import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { createLicense, type NewLicense, LicenseKeyTakenError } from './issue.ts';
import { hashWithAllSecrets, requireKeyHash } from './license-key.ts';
import type { LicenseChangeDependencies } from './dependencies.ts';
import { findLicenseIdByKey } from './queries/license-keys.ts';
import { findWeakKeys } from './rules/find-weak-keys.ts';

/**
 * The outcome for an imported license. `present`: a license has its key already and is left unchanged. `weak`: refused,
 * because its key can be guessed.
 */
export type ImportOutcome = 'created' | 'present' | 'weak';

/** A license to import, with its existing key. */
export type ImportedLicense = NewLicense & { readonly licenseKey: string };

/** A manual import. */
export interface ImportChange {
  readonly actor: string;
  readonly reason: string;
  /** Default: keys that can be guessed are refused. */
  readonly allowWeakKeys?: boolean;
}

/**
 * Creates licenses for existing keys from elsewhere, all in one transaction with one audit row. A key that is present is
 * skipped, so that an import can be repeated.
 * @returns the outcomes in the order of the licenses
 */
export async function importLicenses(
  deps: LicenseChangeDependencies,
  licenses: readonly ImportedLicense[],
  { actor, reason, allowWeakKeys = false }: ImportChange,
): Promise<readonly ImportOutcome[]> {
  const isWeak = findWeak(deps, licenses);
  return inTransaction(deps.pool, async (client) => {
    const outcomes: ImportOutcome[] = [];
    for (const [index, license] of licenses.entries()) {
      const isRefused = isWeak[index] === true && !allowWeakKeys;
      outcomes.push(await importLicense(deps, client, license, isRefused));
    }
    const created = outcomes.filter((outcome) => outcome === 'created').length;
    const weak = outcomes.filter((outcome, index) => outcome === 'created' && isWeak[index]).length;
    if (created > 0) {
      await insertAuditEntry(client, {
        occurredAt: deps.clock.now(),
        actor,
        reason,
        action: 'license.import',
        subjectId: 'import',
        details: { created, ...(allowWeakKeys ? { weak } : {}) },
      });
    }
    return outcomes;
  });
}

/** @param isRefused the key is weak; one that is present is still reported as present */
async function importLicense(
  deps: LicenseChangeDependencies,
  db: Queryable,
  license: ImportedLicense,
  isRefused: boolean,
): Promise<ImportOutcome> {
  // The table's primary key detects a key only by its hash under the current secret.
  const mustLookUp = isRefused || deps.vault.previous.length > 0;
  if (mustLookUp && (await isPresent(deps, db, license))) return 'present';
  if (isRefused) return 'weak';
  try {
    await createLicense(deps, db, license);
    return 'created';
  } catch (error) {
    if (error instanceof LicenseKeyTakenError) return 'present';
    throw error;
  }
}

async function isPresent(
  deps: LicenseChangeDependencies,
  db: Queryable,
  { licenseKey }: ImportedLicense,
): Promise<boolean> {
  return (await findLicenseIdByKey(db, hashWithAllSecrets(deps, licenseKey))) !== null;
}

/** Returns what {@link importLicenses} would do, without doing it. */
export async function previewImport(
  deps: LicenseChangeDependencies,
  licenses: readonly ImportedLicense[],
  { allowWeakKeys = false }: Pick<ImportChange, 'allowWeakKeys'>,
): Promise<readonly ImportOutcome[]> {
  const isWeak = findWeak(deps, licenses);
  const seen = new Set<string>();
  const outcomes: ImportOutcome[] = [];
  for (const [index, license] of licenses.entries()) {
    const keyHash = requireKeyHash(deps, license.licenseKey);
    const present = seen.has(keyHash) || (await isPresent(deps, deps.pool, license));
    const isRefused = isWeak[index] === true && !allowWeakKeys;
    if (!isRefused) seen.add(keyHash);
    outcomes.push(present ? 'present' : isRefused ? 'weak' : 'created');
  }
  return outcomes;
}

function findWeak(
  deps: LicenseChangeDependencies,
  licenses: readonly ImportedLicense[],
): boolean[] {
  const keys = licenses.map(({ licenseKey }) => licenseKey);
  return findWeakKeys(keys, deps.catalog().keyPrefix);
}
