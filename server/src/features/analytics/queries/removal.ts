import { Type } from 'typebox';

import { listDistributedTables } from '#server/db/distribution.ts';
import { sendQuery } from '#server/db/send-query.ts';
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
import { LONG_STATEMENT_MS, runLong } from './run-long.ts';

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
  const tables = await listDistributedTables(db);
  if (tables.some(({ table }) => table === 'event_ids')) await summarizeShards(db);
  else await runLong(db, summarize('event_ids'));
}

/** On Citus the table itself is empty; the command runs on each of its shards. */
async function summarizeShards(db: Queryable): Promise<void> {
  const text = 'select shardid, success, result from run_command_on_shards($1, $2)';
  const { rows } = await sendQuery(
    db,
    { text, values: ['event_ids', summarize('%1$s')] },
    LONG_STATEMENT_MS,
  );
  const failed = rows.find((row) => row['success'] !== true);
  if (failed !== undefined)
    throw new Error(`shard ${String(failed['shardid'])}: ${String(failed['result'])}`);
}

const summarize = (table: string): string => `
    with brin as materialized (
      select pg_class.oid as index from pg_index join pg_class on pg_class.oid = indexrelid join pg_am on pg_am.oid = relam
      where indrelid = '${table}'::regclass and amname = 'brin'
    ), desummarized as materialized (
      select index, block, brin_desummarize_range(index, block)::text
      from brin, generate_series(0, pg_relation_size('${table}') / current_setting('block_size')::integer, 128) as block
    )
    select count(brin_summarize_range(index, block)) from desummarized`;

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
