import { setTimeout as sleep } from 'node:timers/promises';

import type { Pool, PoolClient } from 'pg';

import {
  fromDatabase,
  isDatabaseUnavailable,
  isLockTimeout,
  isTransientConflict,
} from './database-errors.ts';
import { sendQuery } from './send-query.ts';

export interface TransactionOptions {
  /** How long a statement waits for a lock before it fails with SQLSTATE 55P03; 0: without limit. */
  readonly lockTimeoutMs?: number;
  /** How long the commit may take. Default: as long as any statement. */
  readonly commitTimeoutMs?: number;
  /** SQL that is sent together with the begin, which saves a round trip. */
  readonly first?: string;
}

/** Shorter than the client's limit of a statement, so that the server cancels it and reports why. */
const LOCK_TIMEOUT_MS = 3_000;

/**
 * Runs work in a transaction and commits it; rolls back and rethrows on any error. Retries as {@link retryConflicts} does.
 */
export function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  options?: TransactionOptions,
): Promise<Result> {
  return retryConflicts(() => inTransactionOnce(pool, work, options));
}

/** Like {@link inTransaction} without retries: for batches, which are retried as a whole. */
export async function inTransactionOnce<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  { lockTimeoutMs = LOCK_TIMEOUT_MS, commitTimeoutMs, first = '' }: TransactionOptions = {},
): Promise<Result> {
  const client = await fromDatabase(pool.connect());
  let broken: Error | undefined;
  try {
    await sendQuery(client, { text: `begin; set local lock_timeout = ${lockTimeoutMs}; ${first}` });
    const result = await work(client);
    await sendQuery(client, { text: 'commit' }, commitTimeoutMs);
    return result;
  } catch (error) {
    broken = await rollBack(client, error);
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * Rolls back; returns an error if the connection is broken, so that the pool discards it. Sends nothing to an unavailable
 * database, which rolls back when the connection closes.
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

const MAX_TRIES = 5;

/** Transactions that met in a deadlock wait for random times, longer after each try. */
const RETRY_STEP_MS = 10;

/**
 * Runs work again from its start after a deadlock or a serialization conflict, so it must keep no state between tries.
 * @throws the error of the fifth try
 */
export async function retryConflicts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isTransientConflict(error) || tries >= MAX_TRIES) throw error;
      await sleep(tries * RETRY_STEP_MS * Math.random());
    }
  }
}
