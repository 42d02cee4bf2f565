import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

const LicenseKeyRow = Type.Object({ licenseId: Type.String(), keyHash: Type.String() });

/** The keyed hash of a key in hex digits, and its license. */
export type LicenseKeyRecord = Readonly<Static<typeof LicenseKeyRow>>;

const insertStatement = defineCommand(
  'license_key_insert',
  `insert into license_keys (key_hash, license_id) values ($1, $2) on conflict (key_hash) do nothing`,
);

/** Stores a key of a license; returns false when it is the key of another license. */
export async function insertLicenseKey(
  db: Queryable,
  { keyHash, licenseId }: LicenseKeyRecord,
): Promise<boolean> {
  return (await execute(db, insertStatement, [toBytes(keyHash), licenseId])) === 1;
}

const insertManyStatement = defineCommand(
  'license_key_insert_many',
  `insert into license_keys (key_hash, license_id)
   select key_hash, license_id from unnest($1::bytea[], $2::uuid[]) as new (key_hash, license_id)`,
);

/** Stores newly generated keys. */
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

/** Deletes every key of a license, so that it is not found by any of them. */
export async function deleteKeysOfLicense(db: Queryable, licenseId: string): Promise<void> {
  await execute(db, deleteOfLicenseStatement, [licenseId]);
}

const findStatement = defineStatement(
  'license_key_find',
  LicenseKeyRow,
  `select license_id, encode(key_hash, 'hex') as key_hash from license_keys
   where key_hash = any ($1::bytea[]) order by array_position($1::bytea[], key_hash) limit 1`,
);

/**
 * Returns the license of a key.
 * @param keyHashes the hashes under which the key may be stored; the first one that is stored counts
 */
export async function findLicenseIdByKey(
  db: Queryable,
  keyHashes: readonly string[],
): Promise<string | null> {
  return (await findStoredKey(db, keyHashes))?.licenseId ?? null;
}

/** Returns the first hash under which a key is stored, and its license. */
export async function findStoredKey(
  db: Queryable,
  keyHashes: readonly string[],
): Promise<LicenseKeyRecord | null> {
  return queryRow(db, findStatement, [keyHashes.map(toBytes)]);
}

const listStatement = defineStatement(
  'license_key_list',
  LicenseKeyRow,
  `select license_id, encode(key_hash, 'hex') as key_hash from license_keys where key_hash = any ($1::bytea[])`,
);

/** Lists the licenses of keys by their hashes. */
export async function listStoredKeys(
  db: Queryable,
  keyHashes: readonly string[],
): Promise<LicenseKeyRecord[]> {
  return queryRows(db, listStatement, [keyHashes.map(toBytes)]);
}

const deleteStatement = defineStatement(
  'license_key_delete',
  LicenseKeyRow,
  `delete from license_keys where key_hash = any ($1::bytea[])
   returning license_id, encode(key_hash, 'hex') as key_hash`,
);

/** Deletes and returns keys, to store them under other hashes in the same transaction. */
export async function deleteLicenseKeys(
  db: Queryable,
  keyHashes: readonly string[],
): Promise<LicenseKeyRecord[]> {
  return queryRows(db, deleteStatement, [keyHashes.map(toBytes)]);
}

function toBytes(keyHash: string): Buffer {
  return Buffer.from(keyHash, 'hex');
}
