import { Type, type Static } from 'typebox';

import {
  columnsOf,
  defineStatement,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

import { LicenseRow } from '../../licenses/queries/licenses.ts';

const OwnRow = Type.Object({ ...LicenseRow.properties, active: Type.Integer() });

/** A license with the number of its active machines. */
export type OwnLicense = Readonly<Static<typeof OwnRow>>;

const ACTIVE =
  '(select count(*) from activations a where a.license_id = l.id and a.deactivated_at is null) as active';

const listStatement = defineStatement(
  'buyer_list_licenses',
  OwnRow,
  `select ${columnsOf(LicenseRow, 'l')}, ${ACTIVE}
   from licenses l
   where lower(l.customer_email) = lower($1)
   order by l.created_at desc, l.id desc
   limit $2`,
);

/** Lists the licenses of an address, newest first. */
export async function listLicensesOfAddress(
  db: Queryable,
  email: string,
  limit: number,
): Promise<OwnLicense[]> {
  return queryRows(db, listStatement, [email, limit]);
}

const findStatement = defineStatement(
  'buyer_find_license',
  OwnRow,
  `select ${columnsOf(LicenseRow, 'l')}, ${ACTIVE} from licenses l where l.id = $1`,
);

/** Finds a license by its id. */
export async function findOwnLicense(db: Queryable, id: string): Promise<OwnLicense | null> {
  return queryRow(db, findStatement, [id]);
}

const listSpellingsStatement = defineStatement(
  'buyer_list_spellings',
  Type.Object({ customerEmail: Type.String() }),
  `select customer_email from licenses
   where lower(customer_email) = lower($1)
   group by customer_email
   order by max(created_at) desc
   limit $2`,
);

/**
 * Lists the spellings that licenses have of an address, that of the newest license first. The database may convert letters
 * beyond ASCII to those of other addresses: `lower` of U+0130 can be an i.
 */
export async function listSpellings(
  db: Queryable,
  email: string,
  limit: number,
): Promise<string[]> {
  const rows = await queryRows(db, listSpellingsStatement, [email, limit]);
  return rows.map(({ customerEmail }) => customerEmail);
}
