import { Type } from 'typebox';

import { sendQuery } from '#server/db/send-query.ts';
import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

import { LONG_STATEMENT_MS } from './run-long.ts';

const begin = {
  text: `set transaction isolation level repeatable read;
         set local statement_timeout = ${LONG_STATEMENT_MS - 10_000};
         set local work_mem = '64MB'`,
};

/** Sets isolation, timeout and memory of a new transaction so that its statements can group a day of events. */
export async function setRollupTransaction(db: Queryable): Promise<void> {
  await sendQuery(db, begin);
}

/** Sets the lock timeout of the transaction. */
export async function setLockTimeout(db: Queryable, timeoutMs: number): Promise<void> {
  await sendQuery(db, { text: `set local lock_timeout = ${timeoutMs}` });
}

const lockStatement = defineStatement(
  'analytics_lock',
  Type.Object({ locked: Type.Boolean(), pid: Type.Integer() }),
  `select pg_try_advisory_xact_lock(hashtextextended('latchkey ' || $1, 0)) as locked, pg_backend_pid() as pid`,
);

/**
 * Locks roll-ups and dropping partitions, or the removal of old data, until the transaction ends.
 * @returns the process id of the connection's backend, or null when another transaction holds the lock
 */
export async function tryLock(db: Queryable, name: 'roll-ups' | 'removal'): Promise<number | null> {
  const row = await queryRow(db, lockStatement, [name]);
  return row?.locked === true ? row.pid : null;
}

const cancelStatement = defineCommand('analytics_cancel', 'select pg_cancel_backend($1)');

/** Cancels the running statement of a backend. */
export async function cancelStatementOf(db: Queryable, pid: number): Promise<void> {
  await execute(db, cancelStatement, [pid]);
}
