import { Type } from 'typebox';

import { defineStatement, queryRow, type Queryable } from '#server/db/statement.ts';

import { IS_UNMATCHED } from './events.ts';

const RareRows = Type.Object({
  renewals: Type.Boolean(),
  updates: Type.Boolean(),
  names: Type.Boolean(),
  attention: Type.Boolean(),
});

/** Of what most shops have nothing, whether there is any: a batch sends no statement about what does not exist. */
export interface RareRows {
  /** Purchases that renew a license of another one. */
  readonly renewals: boolean;
  /** Payments and changes that move the end of updates. */
  readonly updates: boolean;
  /** Names of licenses from elsewhere. */
  readonly names: boolean;
  /** Events that need an operator. */
  readonly attention: boolean;
}

const findStatement = defineStatement(
  'billing_find_rare_rows',
  RareRows,
  `select exists (select from billing_licenses where renews) as renewals,
          exists (select from license_updates) as updates,
          exists (select from license_names) as names,
          exists (select from billing_events where ${IS_UNMATCHED}) as attention`,
);

/** Finds which rare rows there are. @param db has the lock of billing, which those who write them wait for */
export async function findRareRows(db: Queryable): Promise<RareRows> {
  const found = await queryRow(db, findStatement);
  if (found === null) throw new Error('a statement without from returned no row');
  return found;
}
