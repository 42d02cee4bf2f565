import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

const listStatement = defineStatement(
  'license_transaction_list',
  Type.Object({ license_id: Type.String(), transaction_id: Type.String() }),
  `select distinct on (license_id) license_id, transaction_id
   from license_transactions
   where license_id = any($1::uuid[])
   order by license_id, position, transaction_id`,
);

/** The checkouts that made licenses, by the license's id; those made by hand are not among them. */
export async function findTransactions(
  db: Queryable,
  licenseIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await queryRows(db, listStatement, [licenseIds]);
  return new Map(rows.map((row) => [row.license_id, row.transaction_id]));
}
