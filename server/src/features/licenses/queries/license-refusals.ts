import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  Timestamp,
  toColumns,
  type Queryable,
} from '#server/db/statement.ts';

/** The refused requests about a license on a day for one reason. */
export interface RefusalRow {
  readonly licenseId: string;
  /** A UTC day: `2027-05-01`. */
  readonly day: string;
  /** A code of the interface. */
  readonly reason: string;
  readonly refusals: number;
  readonly lastAt: Date;
}

/** Ordered, so that two processes wait for each other and never deadlock. */
const addStatement = defineCommand(
  'license_refusal_add',
  `insert into license_refusals as known (license_id, day, reason, refusals, last_at)
   select license_id, day, reason, refusals, last_at
   from unnest($1::uuid[], $2::date[], $3::text[], $4::bigint[], $5::timestamptz[])
     as refused (license_id, day, reason, refusals, last_at)
   order by license_id, day, reason
   on conflict (license_id, day, reason) do update
   set refusals = known.refusals + excluded.refusals, last_at = greatest(known.last_at, excluded.last_at)`,
);

/** Adds to the numbers of refused requests. @param rows one element for each license, day and reason */
export async function addRefusals(db: Queryable, rows: readonly RefusalRow[]): Promise<void> {
  const columns = toColumns(rows, ['licenseId', 'day', 'reason', 'refusals', 'lastAt']);
  await execute(db, addStatement, columns);
}

const RefusalCount = Type.Object({
  reason: Type.String(),
  refusals: Type.Integer(),
  lastAt: Timestamp,
});

/** The refused requests of a license for one reason. */
export type RefusalCount = Readonly<Static<typeof RefusalCount>>;

const listStatement = defineStatement(
  'license_refusal_list_of_license',
  RefusalCount,
  `select reason, sum(refusals)::bigint as refusals, max(last_at) as last_at from license_refusals
   where license_id = $1 and day >= $2::date
   group by reason
   order by last_at desc, reason`,
);

/** Lists the refusals of a license since a day by reason, the newest first. */
export async function listRefusals(
  db: Queryable,
  licenseId: string,
  since: string,
): Promise<RefusalCount[]> {
  return queryRows(db, listStatement, [licenseId, since]);
}

const deleteOldStatement = defineCommand(
  'license_refusal_delete_old',
  `delete from license_refusals
   where (license_id, day, reason) in (
     select license_id, day, reason from license_refusals where day < $1::date limit $2
   )`,
);

/** Deletes refusals before a day, at most `limit`, and returns their number. */
export async function deleteOldRefusals(
  db: Queryable,
  before: string,
  limit: number,
): Promise<number> {
  return execute(db, deleteOldStatement, [before, limit]);
}
