import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { listKeyLookups } from '#server/lib/license-key.ts';

import {
  listSigningKeys,
  lockSigningKeys,
  replaceSigningKeySeal,
} from '../entitlements/queries.ts';
import { openSigningKeys, sealSigningKey } from '../entitlements/signing-key.ts';
import { resealTotpSecrets } from '../operators/totp-secret.ts';
import type { LicenseKeyDependencies } from '../licenses/dependencies.ts';
import { licenseKeyLabel } from '../licenses/license-key.ts';
import { lockOutdatedAddedKeys, updateSealedAddedKeys } from '../licenses/queries/added-keys.ts';
import { deleteLicenseKeys, insertLicenseKeys } from '../licenses/queries/license-keys.ts';
import { MAX_ENDPOINTS } from '../outgoing-webhooks/add-endpoint.ts';
import {
  listEndpointRecords,
  lockEndpoints,
  updateEndpoint,
} from '../outgoing-webhooks/queries/endpoints.ts';
import { resealSecrets } from '../outgoing-webhooks/secrets.ts';
import {
  listOutdatedLicenses,
  lockSealedLicenses,
  updateSealedLicenses,
  type SealedLicense,
} from './queries.ts';

export interface RewriteDependencies extends LicenseKeyDependencies {
  readonly clock: Clock;
  readonly pool: Pool;
}

/** Licenses in one transaction, which locks them for some 20 ms. */
const BATCH_SIZE = 200;

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** The number of rewritten rows, and of rows that do not open. */
export interface RewriteResult {
  readonly rewritten: number;
  readonly failed: number;
}

/**
 * Seals and hashes the keys of all licenses under the current master secret, in batches. Safe to interrupt and repeat.
 * @param report called with the number of rewritten licenses
 */
export async function rewriteLicenses(
  deps: RewriteDependencies,
  report: (done: number) => void,
): Promise<RewriteResult> {
  let after = NIL_UUID;
  let rewritten = 0;
  let failed = 0;
  for (;;) {
    const page = await listOutdatedLicenses(deps.pool, after, deps.vault.secretId, BATCH_SIZE);
    const last = page.at(-1);
    if (last === undefined) return { rewritten, failed };
    after = last.id;
    const done = await rewriteBatch(
      deps,
      page.map(({ id }) => id),
    );
    rewritten += done;
    failed += page.length - done;
    report(rewritten);
  }
}

async function rewriteBatch(deps: RewriteDependencies, ids: readonly string[]): Promise<number> {
  return inTransaction(deps.pool, async (client) => {
    const opened = (await lockSealedLicenses(client, ids)).flatMap((each) => openKey(deps, each));
    const sealed = opened.map(({ id, key }) => ({
      id,
      keySealed: deps.vault.seal(key, licenseKeyLabel(id)),
    }));
    await updateSealedLicenses(client, sealed);
    await rehash(deps, client, opened);
    return opened.length;
  });
}

/** Stores the hashes of keys under the current master secret. */
async function rehash(
  deps: RewriteDependencies,
  client: Queryable,
  opened: readonly { readonly key: string }[],
): Promise<void> {
  const currentHashes = new Map(opened.flatMap(({ key }) => hashesOf(deps, key)));
  const deleted = await deleteLicenseKeys(client, [...currentHashes.keys()]);
  await insertLicenseKeys(
    client,
    deleted.map(({ keyHash, licenseId }) => ({
      keyHash: currentHashes.get(keyHash) ?? keyHash,
      licenseId,
    })),
  );
}

/** Seals and hashes the keys that imports added to licenses, as {@link rewriteLicenses}. */
export async function rewriteAddedKeys(deps: RewriteDependencies): Promise<RewriteResult> {
  const { pool, vault } = deps;
  let [after, rewritten, failed] = [NIL_UUID, 0, 0];
  for (;;) {
    const position = after;
    const page = await inTransaction(pool, async (client) => {
      const locked = await lockOutdatedAddedKeys(client, position, vault.secretId, BATCH_SIZE);
      const opened = locked.flatMap(({ id, licenseId, keySealed }) =>
        openKey(deps, { id: licenseId, keySealed }).map(({ key }) => ({ id, licenseId, key })),
      );
      await updateSealedAddedKeys(
        client,
        opened.map(({ key, ...each }) => ({
          ...each,
          keySealed: vault.seal(key, licenseKeyLabel(each.licenseId)),
        })),
      );
      await rehash(deps, client, opened);
      return { last: locked.at(-1)?.id, count: locked.length, opened: opened.length };
    });
    if (page.last === undefined) return { rewritten, failed };
    after = page.last;
    rewritten += page.opened;
    failed += page.count - page.opened;
  }
}

function openKey({ vault }: RewriteDependencies, { id, keySealed }: SealedLicense) {
  try {
    return [{ id, key: vault.open(keySealed, licenseKeyLabel(id)) }];
  } catch {
    // Counted as failed, so that the other rows are rewritten.
    return [];
  }
}

/** Maps the hashes of a key under the previous secrets to the hash under the current one. */
function hashesOf({ catalog, vault }: RewriteDependencies, key: string): [string, string][] {
  return listKeyLookups(key, catalog().keyPrefix).flatMap((lookup) =>
    vault.previous.map((hashes): [string, string] => [
      hashes.hashLookup(lookup),
      vault.hashLookup(lookup),
    ]),
  );
}

/** Seals the signing keys of entitlements under the current master secret. */
export async function rewriteSigningKeys({
  pool,
  vault,
}: RewriteDependencies): Promise<RewriteResult> {
  return inTransaction(pool, async (client) => {
    await lockSigningKeys(client);
    const { opened, rejected } = openSigningKeys(vault, await listSigningKeys(client));
    const outdated = opened.filter(({ record }) => !vault.isCurrent(record.privateKeySealed));
    for (const { record, key } of outdated) {
      await replaceSigningKeySeal(client, sealSigningKey(vault, key, record));
    }
    return { rewritten: outdated.length, failed: rejected.length };
  });
}

/** Seals the signing secrets of webhook endpoints under the current master secret. */
export async function rewriteEndpoints(deps: RewriteDependencies): Promise<RewriteResult> {
  const now = deps.clock.now();
  return inTransaction(deps.pool, async (client) => {
    await lockEndpoints(client);
    const result = { rewritten: 0, failed: 0 };
    for (const endpoint of await listEndpointRecords(client, MAX_ENDPOINTS)) {
      try {
        const resealed = resealSecrets(deps.vault, endpoint, now);
        if (resealed === null) continue;
        await updateEndpoint(client, { ...endpoint, ...resealed });
        result.rewritten += 1;
      } catch {
        // Sealed under a secret that is not configured; `endpoint roll` replaces it.
        result.failed += 1;
      }
    }
    return result;
  });
}

/** Seals the secrets of operators' one-time codes under the current master secret. */
export async function rewriteTotpSecrets({
  pool,
  vault,
}: RewriteDependencies): Promise<RewriteResult> {
  return inTransaction(pool, (client) => resealTotpSecrets(client, vault));
}
