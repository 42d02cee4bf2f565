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

const LONG_STATEMENTS = `set local statement_timeout = ${LONG_STATEMENT_MS - 10_000};
         set local work_mem = '64MB'`;

/** Sets timeout and memory of a transaction so that its statements can group or sort a day of events. */
export async function allowLongStatements(db: Queryable): Promise<void> {
  await sendQuery(db, { text: LONG_STATEMENTS });
}

/** Lets all statements of a new transaction read the same state, and group a day of events. */
export async function setRollupTransaction(db: Queryable): Promise<void> {
  const text = `set transaction isolation level repeatable read; ${LONG_STATEMENTS}`;
  await sendQuery(db, { text });
}

/** Lets a transaction wait for its next statement for any time. */
export async function allowIdleTransaction(db: Queryable): Promise<void> {
  await sendQuery(db, { text: 'set local idle_in_transaction_session_timeout = 0' });
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
 * Locks roll-ups and dropping partitions, the removal of old data, or archiving events, until the transaction ends.
 * @returns the process id of the connection's backend, or null when another transaction holds the lock
 */
export async function tryLock(
  db: Queryable,
  name: 'roll-ups' | 'removal' | 'archive',
): Promise<number | null> {
  const row = await queryRow(db, lockStatement, [name]);
  return row?.locked === true ? row.pid : null;
}

/** Marks a point to which a transaction can return. */
export async function setSavepoint(db: Queryable): Promise<void> {
  await sendQuery(db, { text: 'savepoint analytics' });
}

/** Undoes what a transaction did since its savepoint, and releases the locks that it got since. */
export async function returnToSavepoint(db: Queryable): Promise<void> {
  await sendQuery(db, { text: 'rollback to savepoint analytics' });
}

/** The cast selects PostgreSQL's function: Citus has one of two parameters. */
const cancelStatement = defineCommand('analytics_cancel', 'select pg_cancel_backend($1::integer)');

/** Cancels the running statement of a backend. */
export async function cancelStatementOf(db: Queryable, pid: number): Promise<void> {
  await execute(db, cancelStatement, [pid]);
}
