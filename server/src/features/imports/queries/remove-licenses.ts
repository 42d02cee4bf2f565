import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

const lockStatement = defineStatement(
  'import_lock_licenses',
  Type.Object({ id: Type.String() }),
  'select id from licenses where id = any ($1::uuid[]) order by id for update',
);

/** Locks licenses until the transaction ends, so that no machine is activated meanwhile. */
export async function lockLicenses(db: Queryable, licenseIds: readonly string[]): Promise<void> {
  await queryRows(db, lockStatement, [licenseIds]);
}

const REMOVED_WITH_LICENSE = [
  'license_keys',
  'license_transactions',
  'license_names',
  'license_updates',
  'license_activity',
  'license_refusals',
  'license_added_keys',
  'import_extensions',
  'imported_seats',
  'imported_licenses',
];

const removeStatement = defineCommand(
  'import_remove_licenses',
  `with ${REMOVED_WITH_LICENSE.map(
    (table) => `removed_${table} as (delete from ${table} where license_id = any ($1::uuid[]))`,
  ).join(',\n')}
   delete from licenses where id = any ($1::uuid[])`,
);

/** Removes locked licenses that nobody used: their keys, names and seats, and their rows of every import. */
export async function removeLicenses(db: Queryable, licenseIds: readonly string[]): Promise<void> {
  await execute(db, removeStatement, [licenseIds]);
}
