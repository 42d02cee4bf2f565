import type { Pool, PoolClient } from 'pg';

import { inTransaction } from '#server/db/transaction.ts';

import { setRollupTransaction, tryLockRollups } from '../queries/rollup-marks.ts';
import { cancelOnAbort } from './cancel-on-abort.ts';

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
