import { Type } from 'typebox';

import { sendQuery } from '#server/db/send-query.ts';
import {
  defineStatement,
  queryRow,
  type Queryable,
  defineCommand,
  execute,
  Timestamp,
} from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import type { RemovalClock } from '../rules/removal-clock.ts';
import { runLong } from './run-long.ts';

const lockStatement = defineStatement(
  'removal_lock',
  Type.Object({ taken: Type.Boolean(), process: Type.Integer() }),
  `select pg_try_advisory_xact_lock(hashtextextended('latchkey removal', 0)) as taken, pg_backend_pid() as process`,
);

/**
 * Keeps others from removing what is old until the transaction ends, and gives the number of the server's process; null:
 * another one is at it.
 */
export async function tryLockRemoval(db: Queryable): Promise<number | null> {
  const row = await queryRow(db, lockStatement);
  return row?.taken === true ? row.process : null;
}

/** For the rest of the transaction. */
export async function setLockTimeout(db: Queryable, timeoutMs: number): Promise<void> {
  await sendQuery(db, { text: `set local lock_timeout = ${timeoutMs}` });
}

/**
 * Removes ids that arrived before a moment, so many at most, and gives how many it removed. They are looked for once, as an
 * array: a plan by old statistics looked for them again for each row, which took a minute for 40,000.
 */
export async function deleteEventIds(db: Queryable, before: Date, limit: number): Promise<number> {
  const text = `
    delete from event_ids where event_id = any (array(
      select event_id from event_ids where received_at < $1 limit $2
    ))`;
  return runLong(db, text, [before, limit]);
}

/**
 * Sums up anew which ids lie where. New ids take the places of removed ones, and the index keeps the old times of a
 * place besides the new: after 90 days it would have each search for old ids read the whole table, 50 ms for each million.
 * This takes as long, and holds up nobody who stores ids, which `reindex` would.
 */
export async function summariseEventIds(db: Queryable): Promise<void> {
  const text = `
    with forgotten as materialized (
      select block, brin_desummarize_range('event_ids_received', block)::text
      from generate_series(0, pg_relation_size('event_ids') / current_setting('block_size')::integer, 128) as block
    )
    select brin_summarize_range('event_ids_received', block) from forgotten`;
  await runLong(db, text);
}

/** Removes days of use before a day, so many at most and the oldest first, and gives how many it removed. */
export async function deleteUsageDays(db: Queryable, before: Day, limit: number): Promise<number> {
  const text = `
    delete from usage_days where (machine_key, day) in (
      select machine_key, day from usage_days where day < $1 order by day limit $2
    )`;
  return runLong(db, text, [before, limit]);
}

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
