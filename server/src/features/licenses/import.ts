import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { readLicenseKey } from '#server/lib/license-key.ts';
import { insertAuditEntry } from '../audit/queries.ts';
import { createLicense, type LicenseOrder, LicenseKeyTakenError } from './issue.ts';
import { findLicenseIdByKey } from './queries/licenses.ts';

/** What became of an imported license: its key was new, or is a license's already, which stays as it is. */
export type ImportOutcome = 'created' | 'present';

/** A license with a key that was made elsewhere. */
export type ImportOrder = LicenseOrder & { readonly licenseKey: string };

/**
 * Makes licenses of keys that were made elsewhere, all in one transaction with one audit row. A key that is known
 * already is left alone, so that an import may be run again.
 * @returns one outcome per order, in their order
 */
export async function importLicenses(
  ctx: Context,
  orders: readonly ImportOrder[],
  actor: string,
): Promise<readonly ImportOutcome[]> {
  return inTransaction(ctx.pool, async (client) => {
    const outcomes: ImportOutcome[] = [];
    for (const order of orders) {
      outcomes.push(
        await createLicense(ctx, client, order).then(
          () => 'created',
          (error: unknown) => {
            if (error instanceof LicenseKeyTakenError) return 'present';
            throw error;
          },
        ),
      );
    }
    const created = outcomes.filter((outcome) => outcome === 'created').length;
    if (created > 0) {
      await insertAuditEntry(client, {
        occurredAt: ctx.clock.now(),
        actor,
        action: 'license.import',
        subjectId: 'import',
        reason: null,
        details: { created },
      });
    }
    return outcomes;
  });
}

/** What {@link importLicenses} would do, without doing it. */
export async function previewImport(
  ctx: Context,
  orders: readonly ImportOrder[],
): Promise<readonly ImportOutcome[]> {
  const seen = new Set<string>();
  const outcomes: ImportOutcome[] = [];
  for (const { licenseKey } of orders) {
    const { lookup } = requireReadable(licenseKey, ctx.catalog().keyPrefix);
    const keyHash = ctx.vault.hashLookup(lookup);
    const known = await findLicenseIdByKey(ctx.pool, Buffer.from(keyHash, 'hex'));
    outcomes.push(known !== null || seen.has(keyHash) ? 'present' : 'created');
    seen.add(keyHash);
  }
  return outcomes;
}

function requireReadable(licenseKey: string, keyPrefix: string): { readonly lookup: string } {
  const reading = readLicenseKey(licenseKey, keyPrefix);
  if (reading.kind === 'mistyped') throw new Error('the key has a wrong checksum');
  return reading;
}
