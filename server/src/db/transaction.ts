import { setTimeout as sleep } from 'node:timers/promises';

import type { Pool, PoolClient } from 'pg';

import { isConnectionFailure, isTransientConflict } from './database-errors.ts';

const MAX_TRIES = 5;

/** Two that met in a deadlock wait for random times, each longer than the last, and do not meet again. */
const RETRY_STEP_MS = 10;

/**
 * Runs work in one transaction and commits it; any error rolls it back and is thrown on. Work that lost a deadlock or a
 * serialization conflict is run again from its start, so it must hold no state of its own between tries.
 */
export async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await runOnce(pool, work);
    } catch (error) {
      if (!isTransientConflict(error) || tries >= MAX_TRIES) throw error;
      await sleep(tries * RETRY_STEP_MS * Math.random());
    }
  }
}

async function runOnce<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    broken = await rollBack(client, error);
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * Gives the error when the connection is of no more use, so that the pool throws it away. A database that does not answer
 * is not asked to roll back, which it does by itself when the connection is gone.
 */
async function rollBack(client: PoolClient, reason: unknown): Promise<Error | undefined> {
  if (reason instanceof Error && isConnectionFailure(reason)) return reason;
  try {
    await client.query('rollback');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
