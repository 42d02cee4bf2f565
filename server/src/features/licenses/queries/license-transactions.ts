import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
  toColumns,
} from '#server/db/statement.ts';

/** The checkout that created a license, and the license's position among its line items. */
export interface LicenseOrigin {
  readonly transactionId: string;
  readonly licenseId: string;
  readonly position: number;
}

const upsertStatement = defineCommand(
  'license_transaction_upsert_many',
  `insert into license_transactions as stored (transaction_id, license_id, position)
   select transaction_id, license_id, position
   from unnest($1::text[], $2::uuid[], $3::integer[]) as new (transaction_id, license_id, position)
   order by transaction_id, license_id
   on conflict (transaction_id, license_id) do update set position = excluded.position
   where stored.position <> excluded.position`,
);

/** Stores the checkouts of licenses; a changed position is updated. */
export async function upsertLicenseTransactions(
  db: Queryable,
  origins: readonly LicenseOrigin[],
): Promise<void> {
  const columns = toColumns(origins, ['transactionId', 'licenseId', 'position']);
  await execute(db, upsertStatement, columns);
}

const deleteStatement = defineCommand(
  'license_transaction_delete_many',
  `delete from license_transactions as stored
   using unnest($1::text[], $2::uuid[]) as removed (transaction_id, license_id)
   where stored.transaction_id = removed.transaction_id and stored.license_id = removed.license_id`,
);

/** Deletes checkouts by which licenses must not be found any more. */
export async function deleteLicenseTransactions(
  db: Queryable,
  origins: readonly LicenseOrigin[],
): Promise<void> {
  await execute(db, deleteStatement, toColumns(origins, ['transactionId', 'licenseId']));
}

const listStatement = defineStatement(
  'license_transaction_list',
  Type.Object({ licenseId: Type.String(), transactionId: Type.String() }),
  `select distinct on (license_id) license_id, transaction_id
   from license_transactions
   where license_id = any($1::uuid[])
   order by license_id, position, transaction_id`,
);

/** Returns the checkouts of licenses by license id; manually issued licenses have none. */
export async function listLicenseTransactions(
  db: Queryable,
  licenseIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await queryRows(db, listStatement, [licenseIds]);
  return new Map(rows.map((row) => [row.licenseId, row.transactionId]));
}
