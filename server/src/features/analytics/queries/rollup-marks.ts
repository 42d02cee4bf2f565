import { Type } from 'typebox';

import { sendQuery } from '#server/db/send-query.ts';
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
import { LONG_STATEMENT_MS } from './run-long.ts';

/** What is rolled up on its own. */
export type RollupSource = 'events' | 'usage' | 'usage_week' | 'usage_month' | 'trials';

const listStatement = defineStatement(
  'rollup_mark_list',
  Type.Object({
    day: Type.String(),
    measure: Type.Union([Type.Number(), Type.Null()]),
    rolled_at: Timestamp,
  }),
  `select to_char(day, 'YYYY-MM-DD') as day, measure, rolled_at
   from rollup_marks where source = $1 order by day`,
);

/** What was rolled up of a source, the oldest first. */
export async function listMarks(db: Queryable, source: RollupSource): Promise<RollupMark[]> {
  const rows = await queryRows(db, listStatement, [source]);
  return rows.map(({ day, measure, rolled_at: rolledAt }) => ({ day, measure, rolledAt }));
}

const findStatement = defineStatement(
  'rollup_mark_find',
  Type.Object({ measure: Type.Union([Type.Number(), Type.Null()]) }),
  'select measure from rollup_marks where source = $1 and day = $2',
);

/** How much was there when a day was rolled up; null: it is to be rolled up. */
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

/** Writes down that a day was rolled up; with a null measure, that it has to be once more. */
export async function upsertMark(
  db: Queryable,
  source: RollupSource,
  mark: RollupMark,
): Promise<void> {
  await execute(db, upsertStatement, [source, mark.day, mark.measure, mark.rolledAt]);
}

const findRunStatement = defineStatement(
  'rollup_run_find',
  Type.Object({ finished_at: Timestamp, took_ms: Type.Integer() }),
  'select finished_at, took_ms from rollup_run',
);

/** When everything was last found up to date; null: never. */
export async function findLastRun(db: Queryable): Promise<RollupRun | null> {
  const row = await queryRow(db, findRunStatement);
  return row === null ? null : { finishedAt: row.finished_at, tookMs: row.took_ms };
}

const upsertRunStatement = defineCommand(
  'rollup_run_upsert',
  `insert into rollup_run (finished_at, took_ms) values ($1, $2)
   on conflict (id) do update set finished_at = excluded.finished_at, took_ms = excluded.took_ms`,
);

/** Writes down that everything is up to date. */
export async function upsertRun(db: Queryable, run: RollupRun): Promise<void> {
  await execute(db, upsertRunStatement, [run.finishedAt, Math.ceil(run.tookMs)]);
}

const begin = {
  text: `set transaction isolation level repeatable read;
         set local statement_timeout = ${LONG_STATEMENT_MS - 10_000};
         set local work_mem = '64MB'`,
};

/**
 * Has a transaction that has just begun see one moment of the database, and gives its statements the time that a day of
 * events takes and the memory to group it.
 */
export async function setRollupTransaction(db: Queryable): Promise<void> {
  await sendQuery(db, begin);
}

const lockStatement = defineStatement(
  'rollup_lock',
  Type.Object({ taken: Type.Boolean(), process: Type.Integer() }),
  `select pg_try_advisory_xact_lock(hashtextextended('latchkey roll-ups', 0)) as taken,
          pg_backend_pid() as process`,
);

/**
 * Keeps all others from rolling up and from removing what is old until the transaction ends, and gives the number of the
 * server's process; null: another one does it already.
 */
export async function tryLockRollups(db: Queryable): Promise<number | null> {
  const row = await queryRow(db, lockStatement);
  return row?.taken === true ? row.process : null;
}

const cancelStatement = defineStatement(
  'rollup_cancel',
  Type.Object({ cancelled: Type.Boolean() }),
  'select pg_cancel_backend($1) as cancelled',
);

/** Ends the statement that a process of the server runs. */
export async function cancelStatementOf(db: Queryable, process: number): Promise<void> {
  await queryRow(db, cancelStatement, [process]);
}

const newerStatement = defineStatement(
  'rollup_is_data_newer',
  Type.Object({ newer: Type.Boolean() }),
  `select exists (select from event_ids where received_at > $1)
       or exists (select from usage_days where day >= ($1 at time zone 'UTC')::date and last_at > $1) as newer`,
);

/** Whether an event or a heartbeat came after a moment. */
export async function isDataNewer(db: Queryable, moment: Date): Promise<boolean> {
  return (await queryRow(db, newerStatement, [moment]))?.newer === true;
}
