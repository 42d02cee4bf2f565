import { Client, DatabaseError, type Pool } from 'pg';

import { isDatabaseSilence } from './database-errors.ts';

/** A working database answers this within a millisecond. */
const PING_TIMEOUT_MS = 1_000;

/**
 * Whether an error means that the whole database is silent, so that nobody need wait for it: a statement was not answered
 * in time, and neither is a ping on a connection of its own. A statement that merely waited for a lock does not count.
 */
export async function isWholeDatabaseSilent(
  pool: Pick<Pool, 'options'>,
  error: unknown,
): Promise<boolean> {
  return isDatabaseSilence(error) && !(await answersPing(pool));
}

async function answersPing({ options }: Pick<Pool, 'options'>): Promise<boolean> {
  const client = new Client({
    ...options,
    connectionTimeoutMillis: PING_TIMEOUT_MS,
    query_timeout: PING_TIMEOUT_MS,
  });
  // A connection that breaks later than its answer is of no interest.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch (error) {
    // A refusal of one more connection is an answer too.
    return error instanceof DatabaseError;
  } finally {
    // Not waited for: to close a connection to a silent database may take for ever, and nobody cares how it goes.
    client.end().catch(() => {});
  }
}
