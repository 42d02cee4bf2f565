import { Type } from 'typebox';

import { defineStatement, queryRow, type Queryable } from '#server/db/statement.ts';

const Uses = Type.Object({ uses: Type.Integer() });

const findStatement = defineStatement(
  'license_uses_find',
  Uses,
  'select uses from license_uses where license_id = $1',
);

/** Returns how often the programs of a license have counted a use. */
export async function findUses(db: Queryable, licenseId: string): Promise<number> {
  return (await queryRow(db, findStatement, [licenseId]))?.uses ?? 0;
}

const countStatement = defineStatement(
  'license_uses_count',
  Uses,
  `insert into license_uses as counted (license_id, uses) values ($1, 1)
   on conflict (license_id) do update set uses = least(counted.uses, 2147483646) + 1
   returning uses`,
);

/** Counts a use, and returns how many there are. */
export async function countUse(db: Queryable, licenseId: string): Promise<number> {
  return (await queryRow(db, countStatement, [licenseId]))?.uses ?? 1;
}
