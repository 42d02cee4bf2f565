import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import type { RollupMark, RollupRun } from '../rules/rollup-marks.ts';

export type RollupSource =
  | 'events'
  | 'usage'
  | 'usage_week'
  | 'usage_month'
  | 'trials'
  | 'licenses';

const listStatement = defineStatement(
  'rollup_mark_list',
  Type.Object({
    day: Type.String(),
    measure: Type.Union([Type.Number(), Type.Null()]),
    rolledAt: Timestamp,
  }),
  `select to_char(day, 'YYYY-MM-DD') as day, measure, rolled_at
   from rollup_marks where source = $1 order by day`,
);

/** Returns the marks of a source, oldest first. */
export async function listMarks(db: Queryable, source: RollupSource): Promise<RollupMark[]> {
  return queryRows(db, listStatement, [source]);
}

const findStatement = defineStatement(
  'rollup_mark_find',
  Type.Object({ measure: Type.Union([Type.Number(), Type.Null()]) }),
  'select measure from rollup_marks where source = $1 and day = $2',
);

/** Returns the number of source rows of a roll-up; null: it must be rolled up. */
export async function findMeasure(
  db: Queryable,
  source: RollupSource,
  day: Day,
): Promise<number | null> {
  return (await queryRow(db, findStatement, [source, day]))?.measure ?? null;
}

const upsertStatement = defineCommand(
  'rollup_mark_upsert',
  `insert into rollup_marks (source, day, measure, rolled_at) values ($1, $2, $3, $4)
   on conflict (source, day) do update set measure = excluded.measure, rolled_at = excluded.rolled_at`,
);

/** Stores that a day was rolled up or, with a null measure, must be rolled up again. */
export async function upsertMark(
  db: Queryable,
  source: RollupSource,
  mark: RollupMark,
): Promise<void> {
  await execute(db, upsertStatement, [source, mark.day, mark.measure, mark.rolledAt]);
}

const findRunStatement = defineStatement(
  'rollup_run_find',
  Type.Object({ finishedAt: Timestamp, tookMs: Type.Integer() }),
  'select finished_at, took_ms from rollup_run',
);

/** Returns the last run after which all roll-ups were up to date, or null. */
export async function findLastRun(db: Queryable): Promise<RollupRun | null> {
  return queryRow(db, findRunStatement);
}

const upsertRunStatement = defineCommand(
  'rollup_run_upsert',
  `insert into rollup_run (finished_at, took_ms) values ($1, $2)
   on conflict (id) do update set finished_at = excluded.finished_at, took_ms = excluded.took_ms`,
);

/** Stores a run after which all roll-ups are up to date. */
export async function upsertRun(db: Queryable, run: RollupRun): Promise<void> {
  await execute(db, upsertRunStatement, [run.finishedAt, Math.ceil(run.tookMs)]);
}

const newerStatement = defineStatement(
  'rollup_is_data_newer',
  Type.Object({ newer: Type.Boolean() }),
  `select exists (select 1 from event_ids where received_at > $1)
       or exists (select 1 from usage_days where day >= ($1 at time zone 'UTC')::date and last_at > $1) as newer`,
);

/** Whether an event or a heartbeat is newer. `select 1`: Citus accepts no empty list of columns. */
export async function isDataNewer(db: Queryable, than: Date): Promise<boolean> {
  return (await queryRow(db, newerStatement, [than]))?.newer === true;
}
