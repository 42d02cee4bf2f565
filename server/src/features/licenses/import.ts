import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { estimateKeyBits, lengthOfName, MIN_KEY_BITS } from '#server/lib/key-strength.ts';
import { readLicenseKey } from '#server/lib/license-key.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { createLicense, type LicenseOrder, LicenseKeyTakenError } from './issue.ts';
import { hashUnderAllSecrets, requireKeyHash } from './license-key.ts';
import { findLicenseIdByKey } from './queries/license-keys.ts';

/**
 * What became of an imported license. `present`: its key already belonged to one, which is left as it is. `weak`: refused,
 * because its key can be guessed.
 */
export type ImportOutcome = 'created' | 'present' | 'weak';

/** A license with a key that was made elsewhere. */
export type ImportOrder = LicenseOrder & { readonly licenseKey: string };

/** Who imports licenses, why, and which of them. */
export interface ImportChange {
  readonly actor: string;
  readonly reason: string;
  /** Left out: keys that can be guessed are refused. */
  readonly allowWeakKeys?: boolean;
}

/**
 * Makes licenses for keys that were made elsewhere, all in one transaction with one audit row. A key that is already
 * known is left alone, so that an import can be run again.
 * @returns one outcome per order, in their order
 */
export async function importLicenses(
  ctx: Context,
  orders: readonly ImportOrder[],
  { actor, reason, allowWeakKeys = false }: ImportChange,
): Promise<readonly ImportOutcome[]> {
  const isWeak = findWeak(ctx, orders);
  return inTransaction(ctx.pool, async (client) => {
    const outcomes: ImportOutcome[] = [];
    for (const [index, order] of orders.entries()) {
      const isRefused = isWeak[index] === true && !allowWeakKeys;
      outcomes.push(await (isRefused ? refuseWeak : importLicense)(ctx, client, order));
    }
    const created = outcomes.filter((outcome) => outcome === 'created').length;
    if (created > 0) {
      await insertAuditEntry(client, {
        occurredAt: ctx.clock.now(),
        actor,
        reason,
        action: 'license.import',
        subjectId: 'import',
        details: { created, ...(allowWeakKeys ? { weak: countWeak(outcomes, isWeak) } : {}) },
      });
    }
    return outcomes;
  });
}

async function importLicense(
  ctx: Context,
  db: Queryable,
  order: ImportOrder,
): Promise<ImportOutcome> {
  // The unique key of the table knows one hash of a key only.
  if (ctx.vault.previous.length > 0 && (await isKnown(ctx, db, order.licenseKey))) return 'present';
  try {
    await createLicense(ctx, db, order);
    return 'created';
  } catch (error) {
    if (error instanceof LicenseKeyTakenError) return 'present';
    throw error;
  }
}

/** Leaves a weak key alone; one that is there already is not refused, so that an import can be run again. */
async function refuseWeak(
  ctx: Context,
  db: Queryable,
  { licenseKey }: ImportOrder,
): Promise<ImportOutcome> {
  return (await isKnown(ctx, db, licenseKey)) ? 'present' : 'weak';
}

async function isKnown(ctx: Context, db: Queryable, licenseKey: string): Promise<boolean> {
  return (await findLicenseIdByKey(db, hashUnderAllSecrets(ctx, licenseKey))) !== null;
}

/** Returns what {@link importLicenses} would do, without doing it. */
export async function previewImport(
  ctx: Context,
  orders: readonly ImportOrder[],
  { allowWeakKeys = false }: Pick<ImportChange, 'allowWeakKeys'>,
): Promise<readonly ImportOutcome[]> {
  const isWeak = findWeak(ctx, orders);
  const seen = new Set<string>();
  const outcomes: ImportOutcome[] = [];
  for (const [index, { licenseKey }] of orders.entries()) {
    const keyHash = requireKeyHash(ctx, licenseKey);
    const known = seen.has(keyHash) || (await isKnown(ctx, ctx.pool, licenseKey));
    const isRefused = isWeak[index] === true && !allowWeakKeys;
    if (!isRefused) seen.add(keyHash);
    outcomes.push(known ? 'present' : isRefused ? 'weak' : 'created');
  }
  return outcomes;
}

function findWeak(ctx: Context, orders: readonly ImportOrder[]): boolean[] {
  return findWeakKeys(
    orders.map(({ licenseKey }) => licenseKey),
    ctx.catalog().keyPrefix,
  );
}

/** How many weak keys were imported. */
function countWeak(outcomes: readonly ImportOutcome[], isWeak: readonly boolean[]): number {
  return outcomes.filter((outcome, index) => outcome === 'created' && isWeak[index]).length;
}

/**
 * Finds the keys that a guesser could try, by `MIN_KEY_BITS`. What a key shares with the beginning of its neighbours is
 * known to a guesser and does not count; of a key without neighbours, letters in front of the first hyphen do not. Keys of
 * the service's own form are never weak: they have 115 random bits.
 * @param keys of one vendor, as they stand in a file one after the other
 * @param keyPrefix the catalogue's key prefix
 * @returns one answer for each key, in their order
 */
export function findWeakKeys(keys: readonly string[], keyPrefix: string): boolean[] {
  return keys.map((key, index) => {
    if (readLicenseKey(key, keyPrefix).kind === 'native') return false;
    const neighbours = [keys[index - 1], keys[index + 1]].filter(
      (other) => other !== undefined && other !== key,
    );
    const shared = neighbours.map((other) => countShared(key, other ?? ''));
    const known = shared.length === 0 ? lengthOfName(key) : Math.max(...shared);
    return estimateKeyBits(key, known) < MIN_KEY_BITS;
  });
}

/** How many characters two keys have in common at their beginning. */
function countShared(one: string, other: string): number {
  let count = 0;
  while (count < one.length && one[count] === other[count]) count += 1;
  return count;
}
