import type { Pool, PoolClient } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { cancelStatementOf, setRollupTransaction, tryLock } from '../queries/transactions.ts';

/** Another transaction has the lock. */
export const BUSY = Symbol('busy');

/**
 * Runs work in one transaction with a lock; that of roll-ups is repeatable-read. After a conflict with another
 * transaction, such as an erasure, the work runs again.
 * @param signal cancels the running statement, and with it the work
 */
export async function inLockedTransaction<Result>(
  pool: Pool,
  signal: AbortSignal,
  lock: 'roll-ups' | 'removal',
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result | typeof BUSY> {
  return inTransaction(pool, async (client) => {
    signal.throwIfAborted();
    if (lock === 'roll-ups') await setRollupTransaction(client);
    const pid = await tryLock(client, lock);
    if (pid === null) return BUSY;
    return await cancelOnAbort({ pool, signal }, { client, pid }, () => work(client));
  });
}

/** After this time, a server that did not cancel the statement does not answer at all. */
const CANCEL_TIMEOUT_MS = 3_000;

/**
 * Runs work on a connection. An abort cancels its running statement, or closes the connection when the server does not
 * answer.
 * @param connection with the process id of its backend
 */
async function cancelOnAbort<Result>(
  { pool, signal }: { readonly pool: Pool; readonly signal: AbortSignal },
  { client, pid }: { readonly client: PoolClient; readonly pid: number },
  work: () => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    // Also if the backend was between two statements, with nothing to cancel.
    timer = setTimeout(() => void client.end(), CANCEL_TIMEOUT_MS);
    // After a failure the timer closes the connection.
    cancelStatementOf(pool, pid).catch(() => undefined);
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', cancel);
    clearTimeout(timer);
  }
}

export interface TimeDependencies {
  readonly clock: Clock;
  readonly pool: Pool;
  readonly readDatabaseTime: (db: Queryable) => Promise<Date>;
}

/**
 * Returns the earlier one of the service's and the database's time: an irreversible step, such as making the roll-up of
 * a day final, waits for both.
 */
export async function readEarlierTime({
  clock,
  pool,
  readDatabaseTime,
}: TimeDependencies): Promise<Date> {
  const databaseTime = await readDatabaseTime(pool);
  const now = clock.now();
  return databaseTime < now ? databaseTime : now;
}
