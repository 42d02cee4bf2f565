import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import type { RemovalClock } from '../rules/removal-clock.ts';
import { runLong } from './run-long.ts';

/**
 * Deletes the ids of events that arrived before a time; returns how many. The subquery is an array, because with
 * outdated statistics the planner ran it for each row: a minute for 40,000.
 */
export async function deleteEventIds(db: Queryable, before: Date, limit: number): Promise<number> {
  const text = `
    delete from event_ids where event_id = any (array(
      select event_id from event_ids where received_at < $1 limit $2
    ))`;
  return runLong(db, text, [before, limit]);
}

/**
 * Summarizes the BRIN index of event ids again. New ids fill the space of deleted ones, while the summary of a block
 * range keeps its old times: after 90 days a search for old ids would read the whole table, 50 ms per million. This
 * needs as much time, and unlike `reindex` does not block writers.
 */
export async function summarizeEventIds(db: Queryable): Promise<void> {
  const text = `
    with desummarized as materialized (
      select block, brin_desummarize_range('event_ids_received', block)::text
      from generate_series(0, pg_relation_size('event_ids') / current_setting('block_size')::integer, 128) as block
    )
    select brin_summarize_range('event_ids_received', block) from desummarized`;
  await runLong(db, text);
}

/** Deletes days of use before a day, oldest first; returns how many. */
export async function deleteUsageDays(db: Queryable, before: Day, limit: number): Promise<number> {
  const text = `
    delete from usage_days where (machine_key, day) in (
      select machine_key, day from usage_days where day < $1 order by day limit $2
    )`;
  return runLong(db, text, [before, limit]);
}

const findClockStatement = defineStatement(
  'removal_clock_find',
  Type.Object({ reachedAt: Timestamp, movedAt: Timestamp }),
  'select reached_at, moved_at from removal_clock',
);

/** Returns null before the first removal. */
export async function findRemovalClock(db: Queryable): Promise<RemovalClock | null> {
  return queryRow(db, findClockStatement);
}

const upsertClockStatement = defineCommand(
  'removal_clock_upsert',
  `insert into removal_clock (reached_at, moved_at) values ($1, $2)
   on conflict (id) do update set reached_at = excluded.reached_at, moved_at = excluded.moved_at`,
);

export async function upsertRemovalClock(db: Queryable, clock: RemovalClock): Promise<void> {
  await execute(db, upsertClockStatement, [clock.reachedAt, clock.movedAt]);
}
