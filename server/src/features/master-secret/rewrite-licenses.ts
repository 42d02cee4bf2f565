import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { readLicenseKey } from '#server/lib/license-key.ts';

import { deleteLicenseKeys, insertLicenseKeys } from '../licenses/queries/license-keys.ts';
import { licenseKeyLabel } from '../licenses/seal-license-key.ts';
import {
  listOutdatedLicenses,
  lockSealedLicenses,
  updateSealedLicenses,
  type SealedLicense,
} from './queries/sealed-licenses.ts';

type RewriteContext = Pick<Context, 'catalog' | 'pool' | 'vault'>;

/** Licenses of one transaction: some 20 ms of work, for which they stay locked. */
const BATCH_SIZE = 200;

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Rows that were rewritten, and rows that could not be opened. */
export interface RewriteResult {
  readonly rewritten: number;
  readonly failed: number;
}

/**
 * Seals the keys of all licenses under the current master secret and stores their hashes under it, in batches. Safe to
 * be interrupted and run again.
 * @param report called with the number of licenses done so far
 */
export async function rewriteLicenses(
  ctx: RewriteContext,
  report: (done: number) => void,
): Promise<RewriteResult> {
  let after = NIL_UUID;
  let rewritten = 0;
  let failed = 0;
  for (;;) {
    const page = await listOutdatedLicenses(ctx.pool, after, ctx.vault.secretId, BATCH_SIZE);
    const last = page.at(-1);
    if (last === undefined) return { rewritten, failed };
    after = last.id;
    const done = await rewriteBatch(
      ctx,
      page.map(({ id }) => id),
    );
    rewritten += done;
    failed += page.length - done;
    report(rewritten);
  }
}

async function rewriteBatch(ctx: RewriteContext, ids: readonly string[]): Promise<number> {
  return inTransaction(ctx.pool, async (client) => {
    const opened = (await lockSealedLicenses(client, ids)).flatMap((each) => openKey(ctx, each));
    const sealed = opened.map(({ id, key }) => ({
      id,
      keySealed: ctx.vault.seal(key, licenseKeyLabel(id)),
    }));
    await updateSealedLicenses(client, sealed);
    const fresh = new Map(opened.flatMap(({ key }) => hashesOf(ctx, key)));
    const taken = await deleteLicenseKeys(client, [...fresh.keys()]);
    await insertLicenseKeys(
      client,
      taken.map(({ keyHash, licenseId }) => ({
        keyHash: fresh.get(keyHash) ?? keyHash,
        licenseId,
      })),
    );
    return opened.length;
  });
}

function openKey({ vault }: RewriteContext, { id, keySealed }: SealedLicense) {
  try {
    return [{ id, key: vault.open(keySealed, licenseKeyLabel(id)) }];
  } catch {
    // Counted as failed; one row that does not open must not keep the others from being rewritten.
    return [];
  }
}

/** From the hashes of a key under the previous secrets to that under the current one. */
function hashesOf({ catalog, vault }: RewriteContext, key: string): [string, string][] {
  const reading = readLicenseKey(key, catalog().keyPrefix);
  if (reading.kind === 'mistyped') return [];
  const { lookup } = reading;
  return vault.previous.map((hashes) => [hashes.hashLookup(lookup), vault.hashLookup(lookup)]);
}
