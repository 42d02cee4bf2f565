import { Type, type Static } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { TextRange } from '../rules/read-search.ts';

const AddressRow = Type.Object({
  source: Type.Enum(['licenses', 'payments', 'subscribers']),
  /** In lower case. */
  address: Type.String(),
});

/** An e-mail address, and where it is stored. */
export type FoundAddress = Readonly<Static<typeof AddressRow>>;

/**
 * A recursive query that steps from one address to the next one in the index, so that a customer with very many rows costs
 * as much as any other.
 */
function defineSteps(name: string, table: string, column: string): string {
  const next = (bound: string): string =>
    `(select lower(${column}) from ${table}
      where ${column} is not null and lower(${column}) ${bound} and lower(${column}) ~<~ $2
      order by lower(${column}) using ~<~ limit 1)`;
  return `${name} (address, step) as (
    select ${next('~>=~ $1')}, 1
    union all
    select ${next(`~>~ ${name}.address`)}, step + 1 from ${name} where address is not null and step < $3
  )`;
}

const SOURCES = [
  ['licenses', 'licenses', 'customer_email'],
  ['payments', 'billing_customers', 'email'],
  ['subscribers', 'subscribers', 'email'],
] as const;

const listStatement = defineStatement(
  'search_list_addresses',
  AddressRow,
  `with recursive ${SOURCES.map(([source, table, column]) => defineSteps(`of_${source}`, table, column)).join(', ')}
   ${SOURCES.map(
     ([source]) =>
       `select '${source}' as source, address from of_${source} where address is not null`,
   ).join(' union all ')}
   order by 2, 1`,
);

/** Lists stored addresses in a range, in their order; of each source at most `limit`. */
export async function listAddresses(
  db: Queryable,
  { from, until }: TextRange,
  limit: number,
): Promise<FoundAddress[]> {
  return queryRows(db, listStatement, [from, until, limit]);
}
