import { Type, type Static } from 'typebox';

import {
  Bytes,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

const SealedKeyRow = Type.Object({
  id: Type.String(),
  licenseId: Type.String(),
  keySealed: Bytes,
});

/** The sealed text of a key that an import added. */
export type SealedAddedKey = Readonly<Static<typeof SealedKeyRow>>;

/** A key that an import adds to a license. */
export interface NewAddedKey extends SealedAddedKey {
  readonly keyHint: string;
  readonly importId: string;
  readonly addedAt: Date;
}

const insertStatement = defineCommand(
  'license_added_key_insert_many',
  `insert into license_added_keys (license_id, id, key_sealed, key_hint, import_id, added_at)
   select * from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::text[], $5::uuid[], $6::timestamptz[])`,
);

/** Stores keys that licenses have beside their first one; their hashes are stored as those of every key. */
export async function insertAddedKeys(db: Queryable, keys: readonly NewAddedKey[]): Promise<void> {
  if (keys.length === 0) return;
  const names = ['licenseId', 'id', 'keySealed', 'keyHint', 'importId', 'addedAt'] as const;
  await execute(db, insertStatement, toColumns(keys, names));
}

const listHintsStatement = defineStatement(
  'license_added_key_list_hints',
  Type.Object({ keyHint: Type.String() }),
  'select key_hint from license_added_keys where license_id = $1 order by added_at, id',
);

/** Lists the last symbols of the added keys of a license. */
export async function listAddedKeyHints(db: Queryable, licenseId: string): Promise<string[]> {
  const rows = await queryRows(db, listHintsStatement, [licenseId]);
  return rows.map(({ keyHint }) => keyHint);
}

const deleteOfLicenseStatement = defineCommand(
  'license_added_key_delete_of_license',
  'delete from license_added_keys where license_id = $1',
);

/** Deletes the added keys of a license, without their hashes. */
export async function deleteAddedKeysOfLicense(db: Queryable, licenseId: string): Promise<void> {
  await execute(db, deleteOfLicenseStatement, [licenseId]);
}

const deleteOfImportStatement = defineStatement(
  'license_added_key_delete_of_import',
  SealedKeyRow,
  `delete from license_added_keys where license_id = any ($2::uuid[]) and import_id = $1
   returning id, license_id, key_sealed`,
);

/** Deletes and returns the keys that an import added to some licenses, without their hashes. */
export async function deleteAddedKeysOfImport(
  db: Queryable,
  importId: string,
  licenseIds: readonly string[],
): Promise<SealedAddedKey[]> {
  return queryRows(db, deleteOfImportStatement, [importId, licenseIds]);
}

const lockOutdatedStatement = defineStatement(
  'license_added_key_lock_outdated',
  SealedKeyRow,
  `select id, license_id, key_sealed from license_added_keys
   where id > $1 and substring(key_sealed from 2 for 3) <> decode($2, 'hex')
   order by id limit $3 for update`,
);

/** Locks a page of the added keys that are not sealed under a master secret. */
export async function lockOutdatedAddedKeys(
  db: Queryable,
  after: string,
  secretId: string,
  limit: number,
): Promise<SealedAddedKey[]> {
  return queryRows(db, lockOutdatedStatement, [after, secretId, limit]);
}

const updateSealedStatement = defineCommand(
  'license_added_key_update_sealed',
  `update license_added_keys added set key_sealed = new.key_sealed
   from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as new (license_id, id, key_sealed)
   where added.license_id = new.license_id and added.id = new.id`,
);

/** Stores the sealed texts of locked keys. */
export async function updateSealedAddedKeys(
  db: Queryable,
  keys: readonly SealedAddedKey[],
): Promise<void> {
  await execute(db, updateSealedStatement, toColumns(keys, ['licenseId', 'id', 'keySealed']));
}
