import { Type } from 'typebox';

import {
  Timestamp,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

/** The period in which moves are counted. */
export interface MovePeriod {
  /** The start of the period. */
  readonly since: Date;
  /** The end of the period. */
  readonly now: Date;
}

/** A machine that may still run without a connection counts beyond the period. */
const COUNTS = 'license_id = $1 and counts_as_move and (activated_at > $2 or airgapped_until > $3)';

const findStatement = defineStatement(
  'activation_find_move',
  Type.Object({ endsAt: Timestamp }),
  `select greatest(activated_at + make_interval(secs => extract(epoch from $3::timestamptz - $2::timestamptz)::float8),
                   airgapped_until) as ends_at
   from activations
   where ${COUNTS}
   order by ends_at desc
   offset $4 - 1 limit 1`,
);

/**
 * Returns when fewer than n moves will count; null when that is so now.
 * @param n at least 1
 */
export async function findEndOfMove(
  db: Queryable,
  licenseId: string,
  { since, now }: MovePeriod,
  n: number,
): Promise<Date | null> {
  return (await queryRow(db, findStatement, [licenseId, since, now, n]))?.endsAt ?? null;
}

const countStatement = defineStatement(
  'activation_count_moves',
  Type.Object({ used: Type.Integer(), extra: Type.Integer() }),
  `select (select count(*) from activations where ${COUNTS}) as used,
          (select extra_moves from licenses where id = $1) as extra`,
);

/** Counts the moves of a license in a period, and the unused ones that an operator allowed beyond the limit. */
export async function countMoves(
  db: Queryable,
  licenseId: string,
  { since, now }: MovePeriod,
): Promise<{ readonly used: number; readonly extra: number }> {
  return (await queryRow(db, countStatement, [licenseId, since, now])) ?? { used: 0, extra: 0 };
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
