import { Type, type Static } from 'typebox';

import {
  Nullable,
  Timestamp,
  columnsOf,
  defineStatement,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { StatusRow } from '../../licenses/facts.ts';
import type { IdRange, TextRange } from '../rules/read-search.ts';

const LicenseRow = Type.Object({
  ...StatusRow.properties,
  keyHint: Type.String(),
  customerEmail: Nullable.Text,
  customerName: Nullable.Text,
  createdAt: Timestamp,
});

/** A license as a search lists it, with the facts of its status. */
export type FoundLicense = Readonly<Static<typeof LicenseRow>>;

const SELECT = `select ${columnsOf(LicenseRow, 'l')} from licenses l`;

const byIdStatement = defineStatement(
  'search_list_licenses_by_id',
  LicenseRow,
  `${SELECT} where l.id between $1 and $2 order by l.id desc limit $3`,
);

/** Lists licenses by a range of ids, newest first. */
export async function listLicensesById(
  db: Queryable,
  { from, to }: IdRange,
  limit: number,
): Promise<FoundLicense[]> {
  return queryRows(db, byIdStatement, [from, to, limit]);
}

const byHintStatement = defineStatement(
  'search_list_licenses_by_hint',
  LicenseRow,
  `${SELECT} where l.key_hint = any ($1::text[]) order by l.id desc limit $2`,
);

/** Lists licenses by the last symbols of their keys, newest first. */
export async function listLicensesByHint(
  db: Queryable,
  hints: readonly string[],
  limit: number,
): Promise<FoundLicense[]> {
  return queryRows(db, byHintStatement, [hints, limit]);
}

const byAddressStatement = defineStatement(
  'search_list_licenses_by_address',
  LicenseRow,
  `${SELECT} where lower(l.customer_email) = $1 order by l.id desc limit $2`,
);

/** Lists the licenses of a customer, newest first. @param address in lower case */
export async function listLicensesByAddress(
  db: Queryable,
  address: string,
  limit: number,
): Promise<FoundLicense[]> {
  return queryRows(db, byAddressStatement, [address, limit]);
}

const byNameStatement = defineStatement(
  'search_list_licenses_by_name',
  LicenseRow,
  `${SELECT} where lower(l.customer_name) ~>=~ $1 and lower(l.customer_name) ~<~ $2
   order by lower(l.customer_name) using ~<~, l.id limit $3`,
);

/** Lists licenses by the beginning of their customer's name. @param range in lower case */
export async function listLicensesByName(
  db: Queryable,
  { from, until }: TextRange,
  limit: number,
): Promise<FoundLicense[]> {
  return queryRows(db, byNameStatement, [from, until, limit]);
}

const byTransactionStatement = defineStatement(
  'search_list_licenses_by_transaction',
  LicenseRow,
  `${SELECT} join license_transactions t on t.license_id = l.id
   where t.transaction_id = $1 order by t.position, l.id limit $2`,
);

/** Lists the licenses of a checkout, in the order of its line items. */
export async function listLicensesByTransaction(
  db: Queryable,
  transactionId: string,
  limit: number,
): Promise<FoundLicense[]> {
  return queryRows(db, byTransactionStatement, [transactionId, limit]);
}
