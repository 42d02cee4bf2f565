import { Type } from 'typebox';

import { sendQuery } from '#server/db/send-query.ts';
import { defineStatement, queryRow, type Queryable } from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
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

/** Removes ids that arrived before a moment, so many at most, and gives how many it removed. */
export async function deleteEventIds(db: Queryable, before: Date, limit: number): Promise<number> {
  const text = `
    delete from event_ids where event_id in (
      select event_id from event_ids where received_at < $1 limit $2
    )`;
  return runLong(db, text, [before, limit]);
}

/** Removes days of use before a day, so many at most and the oldest first, and gives how many it removed. */
export async function deleteUsageDays(db: Queryable, before: Day, limit: number): Promise<number> {
  const text = `
    delete from usage_days where (machine_key, day) in (
      select machine_key, day from usage_days where day < $1 order by day limit $2
    )`;
  return runLong(db, text, [before, limit]);
}
