import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

/** A key, as a keyed hash in hex digits, and the license that it belongs to. */
export interface LicenseKeyRecord {
  readonly keyHash: string;
  readonly licenseId: string;
}

const insertStatement = defineCommand(
  'license_key_insert',
  `insert into license_keys (key_hash, license_id) values ($1, $2) on conflict (key_hash) do nothing`,
);

/** Points a key at its license; false when the key is another license's already. */
export async function insertLicenseKey(
  db: Queryable,
  { keyHash, licenseId }: LicenseKeyRecord,
): Promise<boolean> {
  return (await execute(db, insertStatement, [toBytes(keyHash), licenseId])) === 1;
}

const insertManyStatement = defineCommand(
  'license_key_insert_many',
  `insert into license_keys (key_hash, license_id)
   select key_hash, license_id from unnest($1::bytea[], $2::uuid[]) as made (key_hash, license_id)`,
);

/** Points keys that were just made at their licenses. */
export async function insertLicenseKeys(
  db: Queryable,
  keys: readonly LicenseKeyRecord[],
): Promise<void> {
  await execute(db, insertManyStatement, [
    keys.map(({ keyHash }) => toBytes(keyHash)),
    keys.map(({ licenseId }) => licenseId),
  ]);
}

const deleteOfLicenseStatement = defineCommand(
  'license_key_delete_of_license',
  'delete from license_keys where license_id = $1',
);

/** Deletes every key of a license, so that nobody finds it by one of them. */
export async function deleteKeysOfLicense(db: Queryable, licenseId: string): Promise<void> {
  await execute(db, deleteOfLicenseStatement, [licenseId]);
}

const findStatement = defineStatement(
  'license_key_find',
  Type.Object({ license_id: Type.String(), key_hash: Type.String() }),
  `select license_id, encode(key_hash, 'hex') as key_hash from license_keys
   where key_hash = any ($1::bytea[]) limit 1`,
);

/**
 * The license that a key belongs to.
 * @param keyHashes the key's hashes under all master secrets that rows may be stored under
 */
export async function findLicenseIdByKey(
  db: Queryable,
  keyHashes: readonly string[],
): Promise<string | null> {
  return (await findStoredKey(db, keyHashes))?.licenseId ?? null;
}

/** Under which of its hashes a key is stored. */
export async function findStoredKey(
  db: Queryable,
  keyHashes: readonly string[],
): Promise<LicenseKeyRecord | null> {
  const row = await queryRow(db, findStatement, [keyHashes.map(toBytes)]);
  return row && { keyHash: row.key_hash, licenseId: row.license_id };
}

const deleteStatement = defineStatement(
  'license_key_delete',
  Type.Object({ license_id: Type.String(), key_hash: Type.String() }),
  `delete from license_keys where key_hash = any ($1::bytea[])
   returning license_id, encode(key_hash, 'hex') as key_hash`,
);

/** Removes keys, for storing them under other hashes in the same transaction. */
export async function deleteLicenseKeys(
  db: Queryable,
  keyHashes: readonly string[],
): Promise<LicenseKeyRecord[]> {
  const rows = await queryRows(db, deleteStatement, [keyHashes.map(toBytes)]);
  return rows.map((row) => ({ keyHash: row.key_hash, licenseId: row.license_id }));
}

function toBytes(keyHash: string): Buffer {
  return Buffer.from(keyHash, 'hex');
}
