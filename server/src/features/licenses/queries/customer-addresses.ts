import { LANGUAGES } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import { defineStatement, Nullable, queryRows, type Queryable } from '#server/db/statement.ts';

import type { LicenseStatus } from '../rules/status.ts';
import { statusCondition } from '../rules/status-sql.ts';

/** A page reads many licenses, if few of them match. */
const LONG_STATEMENT_MS = 60_000;

const CustomerAddress = Type.Object({
  key: Type.String(),
  email: Type.String(),
  name: Nullable.Text,
  language: Type.Union([Type.Enum(LANGUAGES), Type.Null()]),
});

/** The address of a customer; the language is that of a newsletter subscription with the address. */
export type CustomerAddress = Readonly<Static<typeof CustomerAddress>>;

/** Which licenses; empty: all. */
export interface CustomerFilter {
  readonly products: readonly string[];
  readonly statuses: readonly LicenseStatus[];
}

/** The present time: the first parameter. */
const NOW = '$1::timestamptz';

/** By its statuses; there is one for each combination that is used. */
const statements = new Map<string, ReturnType<typeof define>>();

function define(statuses: readonly LicenseStatus[]) {
  const hasStatus = statuses.map((status) => `(${statusCondition(status, NOW)})`).join(' or ');
  return defineStatement(
    ['campaign_list_customers', ...statuses].join('_'),
    CustomerAddress,
    `select page.*, s.language from (
       select distinct on (lower(customer_email))
              lower(customer_email) as key, customer_email as email, customer_name as name
       from licenses
       where customer_email is not null and $1::timestamptz is not null
         and lower(customer_email) > $2
         and (cardinality($3::text[]) = 0 or product_id = any ($3))
         ${hasStatus === '' ? '' : `and (${hasStatus})`}
       order by lower(customer_email), id
       limit $4
     ) page
     left join subscribers s on lower(s.email) = page.key
     order by page.key`,
  );
}

/**
 * Lists a page of the customers' addresses, sorted and each once.
 * @param after the key of the last one of the previous page; at first an empty text
 */
export async function listCustomerAddresses(
  db: Queryable,
  { products, statuses }: CustomerFilter,
  after: string,
  limit: number,
  now: Date,
): Promise<CustomerAddress[]> {
  const sorted = statuses.toSorted();
  const name = sorted.join();
  const statement = statements.get(name) ?? define(sorted);
  statements.set(name, statement);
  return queryRows(db, statement, [now, after, products, limit], LONG_STATEMENT_MS);
}
