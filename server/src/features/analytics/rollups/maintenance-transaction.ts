import type { Pool, PoolClient } from 'pg';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import {
  setRollupTransaction,
  tryLockRollups,
  cancelStatementOf,
} from '../queries/rollup-marks.ts';

/** Another process is rolling up, or removing what is old. */
export const BUSY = Symbol('busy');

/**
 * Runs work in one transaction that sees one moment of the database, unless another process is at such work. What comes
 * between the two, an erasure for instance, has the work run again.
 * @param signal ends the statement under way when it is aborted, and with it the work
 */
export async function inRollupTransaction<Result>(
  pool: Pool,
  signal: AbortSignal,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result | typeof BUSY> {
  return inTransaction(pool, async (client) => {
    signal.throwIfAborted();
    await setRollupTransaction(client);
    const process = await tryLockRollups(client);
    if (process === null) return BUSY;
    return await cancelOnAbort({ pool, signal }, { client, process }, () => work(client));
  });
}

/** A server that does not cancel in time says nothing at all. */
const PATIENCE_MS = 3_000;

/**
 * Runs work on a connection. An abort ends the statement under way: the server is asked to, and when it does not answer the
 * connection is cut.
 * @param connection with the number of the server's process behind it
 */
export async function cancelOnAbort<Result>(
  { pool, signal }: { readonly pool: Pool; readonly signal: AbortSignal },
  { client, process }: { readonly client: PoolClient; readonly process: number },
  work: () => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  let cutting: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    // Also when the server was between two statements, and there was nothing to cancel.
    cutting = setTimeout(() => void client.end(), PATIENCE_MS);
    // Who cannot ask waits for the cut.
    cancelStatementOf(pool, process).catch(() => undefined);
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', cancel);
    clearTimeout(cutting);
  }
}

/** What tells the time twice. */
export type ClocksContext = Pick<Context, 'clock' | 'pool' | 'readDatabaseTime'>;

/**
 * The present moment by the slower of two clocks, the service's and the database's: what cannot be taken back, for instance
 * that a day is over for good, waits until both say so.
 */
export async function readEarlierTime({
  clock,
  pool,
  readDatabaseTime,
}: ClocksContext): Promise<Date> {
  const told = await readDatabaseTime(pool);
  const now = clock.now();
  return told < now ? told : now;
}
