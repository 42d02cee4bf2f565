import type { Pool, PoolClient } from 'pg';

import { fromDatabase, isDatabaseUnavailable, isLockTimeout } from './database-errors.ts';
import { retryConflicts } from './retry-conflicts.ts';
import { sendQuery } from './send-query.ts';

export interface TransactionOptions {
  /** How long a statement waits for a lock before it fails with SQLSTATE 55P03; 0 is for ever. */
  readonly lockTimeoutMs?: number;
}

/** Shorter than the limit that this side sets on a statement, so that the server ends the waiting and says why. */
const LOCK_TIMEOUT_MS = 3_000;

/**
 * Runs work in one transaction and commits it; any error rolls it back and is rethrown. Work that lost a deadlock or a
 * serialization conflict is run again from its start, so it must keep no state of its own between tries.
 */
export async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  { lockTimeoutMs = LOCK_TIMEOUT_MS }: TransactionOptions = {},
): Promise<Result> {
  const begin = `begin; set local lock_timeout = ${lockTimeoutMs}`;
  return retryConflicts(() => runOnce(pool, begin, work));
}

async function runOnce<Result>(
  pool: Pool,
  begin: string,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await fromDatabase(pool.connect());
  let broken: Error | undefined;
  try {
    await sendQuery(client, { text: begin });
    const result = await work(client);
    await sendQuery(client, { text: 'commit' });
    return result;
  } catch (error) {
    broken = await rollBack(client, error);
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * Gives the error when the connection is of no more use, so that the pool discards it. A database that does not answer is
 * not asked to roll back: it does so by itself when the connection is gone.
 */
async function rollBack(client: PoolClient, reason: unknown): Promise<Error | undefined> {
  if (reason instanceof Error && isDatabaseUnavailable(reason) && !isLockTimeout(reason)) {
    return reason;
  }
  try {
    await sendQuery(client, { text: 'rollback' });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
