import { Type } from 'typebox';

import {
  Timestamp,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

const findStatement = defineStatement(
  'activation_find_move',
  Type.Object({ activatedAt: Timestamp }),
  `select activated_at from activations
   where license_id = $1 and counts_as_move and activated_at > $2
   order by activated_at desc
   offset $3 - 1 limit 1`,
);

/**
 * Returns the time of the n-th newest move since a date; null when there were fewer.
 * @param n at least 1
 */
export async function findMove(
  db: Queryable,
  licenseId: string,
  since: Date,
  n: number,
): Promise<Date | null> {
  return (await queryRow(db, findStatement, [licenseId, since, n]))?.activatedAt ?? null;
}

const countStatement = defineStatement(
  'activation_count_moves',
  Type.Object({ used: Type.Integer(), extra: Type.Integer() }),
  `select (select count(*) from activations where license_id = $1 and counts_as_move and activated_at > $2) as used,
          (select extra_moves from licenses where id = $1) as extra`,
);

/** Counts the moves of a license since a date, and the unused ones that an operator allowed beyond the limit. */
export async function countMoves(
  db: Queryable,
  licenseId: string,
  since: Date,
): Promise<{ readonly used: number; readonly extra: number }> {
  return (await queryRow(db, countStatement, [licenseId, since])) ?? { used: 0, extra: 0 };
}

const addExtraStatement = defineCommand(
  'license_add_extra_moves',
  'update licenses set extra_moves = least(extra_moves + $2, 1000000) where id = $1',
);

/** Allows moves of a license beyond its limit. */
export async function addExtraMoves(
  db: Queryable,
  licenseId: string,
  count: number,
): Promise<void> {
  await execute(db, addExtraStatement, [licenseId, count]);
}

const useExtraStatement = defineCommand(
  'license_use_extra_move',
  'update licenses set extra_moves = extra_moves - 1 where id = $1 and extra_moves > 0',
);

/** Uses one of the moves that were allowed beyond the limit; returns false when there is none. */
export async function useExtraMove(db: Queryable, licenseId: string): Promise<boolean> {
  return (await execute(db, useExtraStatement, [licenseId])) === 1;
}
