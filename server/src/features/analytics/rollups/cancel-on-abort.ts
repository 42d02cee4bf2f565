import type { Pool, PoolClient } from 'pg';

import { cancelStatementOf } from '../queries/rollup-marks.ts';

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
