import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { RemovalClock } from '../rules/removal-clock.ts';

const findStatement = defineStatement(
  'removal_clock_find',
  Type.Object({ reached_at: Timestamp, moved_at: Timestamp }),
  'select reached_at, moved_at from removal_clock',
);

/** How far removal has counted time; null: it never ran. */
export async function findRemovalClock(db: Queryable): Promise<RemovalClock | null> {
  const row = await queryRow(db, findStatement);
  return row === null ? null : { reachedAt: row.reached_at, movedAt: row.moved_at };
}

const upsertStatement = defineCommand(
  'removal_clock_upsert',
  `insert into removal_clock (reached_at, moved_at) values ($1, $2)
   on conflict (id) do update set reached_at = excluded.reached_at, moved_at = excluded.moved_at`,
);

/** Writes down how far removal has counted time. */
export async function upsertRemovalClock(db: Queryable, clock: RemovalClock): Promise<void> {
  await execute(db, upsertStatement, [clock.reachedAt, clock.movedAt]);
}
