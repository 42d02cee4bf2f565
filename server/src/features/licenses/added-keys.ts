import { v7 as makeUuid } from 'uuid';

import type { Queryable } from '#server/db/statement.ts';
import { listKeyLookups } from '#server/lib/license-key.ts';

import type { LicenseKeyDependencies } from './dependencies.ts';
import { hashWithAllSecrets, isKeyOf, licenseKeyLabel, sealLicenseKey } from './license-key.ts';
import {
  deleteAddedKeysOfImport,
  insertAddedKeys,
  type SealedAddedKey,
} from './queries/added-keys.ts';
import {
  deleteLicenseKeys,
  findLicenseIdByKey,
  insertLicenseKeys,
} from './queries/license-keys.ts';

/** A key from another system for a license that exists. */
export interface AddedKey {
  readonly licenseId: string;
  readonly licenseKey: string;
  /** The hashes under which it is stored. */
  readonly keyHashes: readonly string[];
}

/** Adds keys to licenses, which are then found by each of their keys. Fails if a key is stored already. */
export async function addKeys(
  deps: LicenseKeyDependencies,
  db: Queryable,
  keys: readonly AddedKey[],
  { importId, addedAt }: { readonly importId: string; readonly addedAt: Date },
): Promise<void> {
  if (keys.length === 0) return;
  await insertLicenseKeys(
    db,
    keys.flatMap(({ licenseId, keyHashes }) =>
      keyHashes.map((keyHash) => ({ keyHash, licenseId })),
    ),
  );
  const sealed = keys.map(({ licenseId, licenseKey }) => {
    const { keySealed, keyHint } = sealLicenseKey(deps, licenseId, licenseKey);
    return { licenseId, id: makeUuid(), keySealed, keyHint, importId, addedAt };
  });
  await insertAddedKeys(db, sealed);
}

/** Removes the keys that an import added to some licenses. */
export async function removeAddedKeys(
  deps: LicenseKeyDependencies,
  db: Queryable,
  importId: string,
  licenseIds: readonly string[],
): Promise<void> {
  if (licenseIds.length === 0) return;
  const removed = await deleteAddedKeysOfImport(db, importId, licenseIds);
  const hashes = removed.flatMap((each) => hashesOfStored(deps, each));
  if (hashes.length > 0) await deleteLicenseKeys(db, hashes);
}

/** The hashes under which a key may be stored: a rotation of the master secret may not have reached it yet. */
function hashesOfStored(
  { vault, catalog }: LicenseKeyDependencies,
  { licenseId, keySealed }: SealedAddedKey,
): string[] {
  const key = vault.open(keySealed, licenseKeyLabel(licenseId));
  const secrets = [vault, ...vault.previous];
  return listKeyLookups(key, catalog().keyPrefix).flatMap((lookup) =>
    secrets.map((hashes) => hashes.hashLookup(lookup)),
  );
}

/** Returns whether a text, in any spelling, is a present key of a locked license: its first one, or one that an import added. */
export async function hasKey(
  deps: LicenseKeyDependencies,
  db: Queryable,
  license: { readonly id: string; readonly keySealed: Buffer },
  licenseKey: string,
): Promise<boolean> {
  if (isKeyOf(deps, license, licenseKey)) return true;
  return (await findLicenseIdByKey(db, hashWithAllSecrets(deps, licenseKey))) === license.id;
}
