import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';
import { toColumns } from '#server/db/to-columns.ts';

/** Which checkout made a license, and in which place. */
export interface LicenseOrigin {
  readonly transactionId: string;
  readonly licenseId: string;
  readonly position: number;
}

const insertStatement = defineCommand(
  'license_transaction_insert',
  'insert into license_transactions (transaction_id, license_id, position) values ($1, $2, $3)',
);

/** Records which checkout made a license. */
export async function insertLicenseTransaction(
  db: Queryable,
  { transactionId, licenseId, position }: LicenseOrigin,
): Promise<void> {
  await execute(db, insertStatement, [transactionId, licenseId, position]);
}

const upsertStatement = defineCommand(
  'license_transaction_upsert_many',
  `insert into license_transactions as known (transaction_id, license_id, position)
   select transaction_id, license_id, position
   from unnest($1::text[], $2::uuid[], $3::integer[]) as made (transaction_id, license_id, position)
   order by transaction_id, license_id
   on conflict (transaction_id, license_id) do update set position = excluded.position
   where known.position <> excluded.position`,
);

/** Records which checkouts made licenses; a place that is known better now is changed. */
export async function upsertLicenseTransactions(
  db: Queryable,
  origins: readonly LicenseOrigin[],
): Promise<void> {
  const columns = toColumns(origins, ['transactionId', 'licenseId', 'position']);
  await execute(db, upsertStatement, columns);
}

const deleteStatement = defineCommand(
  'license_transaction_delete_many',
  `delete from license_transactions as known
   using unnest($1::text[], $2::uuid[]) as gone (transaction_id, license_id)
   where known.transaction_id = gone.transaction_id and known.license_id = gone.license_id`,
);

/** Forgets ids by which licenses are not to be found any more. */
export async function deleteLicenseTransactions(
  db: Queryable,
  origins: readonly LicenseOrigin[],
): Promise<void> {
  await execute(db, deleteStatement, toColumns(origins, ['transactionId', 'licenseId']));
}

const listStatement = defineStatement(
  'license_transaction_list',
  Type.Object({ license_id: Type.String(), transaction_id: Type.String() }),
  `select distinct on (license_id) license_id, transaction_id
   from license_transactions
   where license_id = any($1::uuid[])
   order by license_id, position, transaction_id`,
);

/** The checkouts that made licenses, by the license's id; those made by hand are not among them. */
export async function listLicenseTransactions(
  db: Queryable,
  licenseIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await queryRows(db, listStatement, [licenseIds]);
  return new Map(rows.map((row) => [row.license_id, row.transaction_id]));
}
