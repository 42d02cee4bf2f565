import { Type, type Static } from 'typebox';

import { defineBoundedList } from '#server/db/bounded-list.ts';
import {
  columnsOf,
  defineStatement,
  Nullable,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { LicenseRow } from '../../licenses/queries/licenses.ts';

export const ListedLicense = Type.Object({
  ...LicenseRow.properties,
  version: Type.Integer(),
  activeMachines: Type.Integer(),
  lastSeenAt: Nullable.Timestamp,
  transactionId: Nullable.Text,
});

/** A license with its machines and its checkout. */
export type ListedLicense = Readonly<Static<typeof ListedLicense>>;

/** Of the license `l`. */
export const LISTED_COLUMNS = `${columnsOf(LicenseRow, 'l')}, l.version,
    (select count(*) from activations where license_id = l.id and deactivated_at is null) as active_machines,
    (select max(last_validated_at) from activations where license_id = l.id) as last_seen_at,
    (select transaction_id from license_transactions where license_id = l.id
     order by position, transaction_id limit 1) as transaction_id`;

/** Each order has an index, named in the schema. */
export const licenseList = defineBoundedList({
  name: 'admin_license_list',
  row: ListedLicense,
  columns: LISTED_COLUMNS,
  table: 'licenses',
  alias: 'l',
  key: 'l.id',
  id: { sql: 'l.id', type: 'uuid' },
  sorts: {
    created_at: { sql: 'l.created_at', type: 'timestamptz' },
    expires_at: { sql: `coalesce(l.expires_at, 'infinity')`, type: 'timestamptz' },
  },
});

const countRefusalsStatement = defineStatement(
  'admin_license_count_refusals',
  Type.Object({ licenseId: Type.String(), refusals: Type.Integer() }),
  `select license_id, sum(refusals)::bigint as refusals from license_refusals
   where license_id = any ($1::uuid[]) and day >= $2::date
   group by license_id`,
);

/** Counts the refused requests of licenses since a day; those without refusals are absent. */
export async function countRefusals(
  db: Queryable,
  licenseIds: readonly string[],
  since: string,
): Promise<ReadonlyMap<string, number>> {
  const rows = await queryRows(db, countRefusalsStatement, [licenseIds, since]);
  return new Map(rows.map(({ licenseId, refusals }) => [licenseId, refusals]));
}

const listOfTransactionStatement = defineStatement(
  'admin_license_list_of_transaction',
  Type.Object({ licenseId: Type.String() }),
  'select license_id from license_transactions where transaction_id = $1 limit 1000',
);

/** Lists the licenses of a checkout. */
export async function listLicenseIdsOfTransaction(
  db: Queryable,
  transactionId: string,
): Promise<string[]> {
  const rows = await queryRows(db, listOfTransactionStatement, [transactionId]);
  return rows.map(({ licenseId }) => licenseId);
}
