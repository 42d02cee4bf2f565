import type { Pool } from 'pg';

import { StartupError } from '#server/config/startup-error.ts';
import { messageOf } from '#server/lib/error-message.ts';

import { isConnectionFailure } from './database-errors.ts';
import { sendQuery } from './send-query.ts';

const RETRY_INTERVAL_MS = 250;

/** The oldest supported PostgreSQL, in the form of `server_version_num`. */
const OLDEST_VERSION = 150_000;

/**
 * Waits until the database answers, since it may still be starting.
 * @param patienceMs how long to wait for one that cannot be reached; a refused password fails at once
 * @throws StartupError saying in one sentence what is wrong with DATABASE_URL
 */
export async function waitForDatabase(pool: Pool, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await checkVersion(pool);
    } catch (error) {
      if (error instanceof StartupError) throw error;
      if (!isConnectionFailure(error) || performance.now() > deadline) throw explain(error);
      await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
    }
  }
}

async function checkVersion(pool: Pool): Promise<void> {
  const { rows } = await sendQuery(pool, { text: 'show server_version_num' });
  const version = Number(rows[0]?.['server_version_num']);
  if (version >= OLDEST_VERSION) return;
  throw new StartupError([
    `The database is PostgreSQL ${Math.floor(version / 10_000)}; version 15 or newer is needed.`,
  ]);
}

/** The driver's message holds host, port, user or database name, but never the password. */
function explain(error: unknown): StartupError {
  const sentence = `The database of DATABASE_URL cannot be used (${messageOf(error)}): check the URL, and that the server runs.`;
  return new StartupError([sentence], { cause: error });
}
