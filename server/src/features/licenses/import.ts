import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { insertAuditEntry } from '../audit/queries.ts';
import { requireKeyHash } from './hash-license-key.ts';
import { createLicense, type LicenseOrder, LicenseKeyTakenError } from './issue.ts';
import { findLicenseIdByKey } from './queries/license-keys.ts';

/** What became of an imported license: `present` when its key already belonged to one, which is left as it is. */
export type ImportOutcome = 'created' | 'present';

/** A license with a key that was made elsewhere. */
export type ImportOrder = LicenseOrder & { readonly licenseKey: string };

/**
 * Makes licenses for keys that were made elsewhere, all in one transaction with one audit row. A key that is already
 * known is left alone, so that an import can be run again.
 * @param change who does it and why, for the audit log
 * @returns one outcome per order, in their order
 */
export async function importLicenses(
  ctx: Context,
  orders: readonly ImportOrder[],
  change: { readonly actor: string; readonly reason: string },
): Promise<readonly ImportOutcome[]> {
  return inTransaction(ctx.pool, async (client) => {
    const outcomes: ImportOutcome[] = [];
    for (const order of orders) outcomes.push(await importLicense(ctx, client, order));
    const created = outcomes.filter((outcome) => outcome === 'created').length;
    if (created > 0) {
      await insertAuditEntry(client, {
        occurredAt: ctx.clock.now(),
        ...change,
        action: 'license.import',
        subjectId: 'import',
        details: { created },
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
  try {
    await createLicense(ctx, db, order);
    return 'created';
  } catch (error) {
    if (error instanceof LicenseKeyTakenError) return 'present';
    throw error;
  }
}

/** What {@link importLicenses} would do, without doing it. */
export async function previewImport(
  ctx: Context,
  orders: readonly ImportOrder[],
): Promise<readonly ImportOutcome[]> {
  const seen = new Set<string>();
  const outcomes: ImportOutcome[] = [];
  for (const { licenseKey } of orders) {
    const keyHash = requireKeyHash(ctx, licenseKey);
    const known = seen.has(keyHash) || (await findLicenseIdByKey(ctx.pool, keyHash)) !== null;
    outcomes.push(known ? 'present' : 'created');
    seen.add(keyHash);
  }
  return outcomes;
}
