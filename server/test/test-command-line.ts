import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

import { createPool } from '#server/db/pool.ts';

import { runLatchkey, type CommandRun } from './command-line.ts';
import { createTestDatabase, TEST_CONNECT_TIMEOUT_MS } from './database.ts';

/** The master secret of commands that `openCommandLine` runs. */
export const COMMAND_LINE_SECRET = 'a-secret-for-the-tests-of-the-command-line';

/**
 * Prepares a database and a directory for the commands of a test file, and removes them after it.
 * @param more variables that commands get, too
 */
export async function openCommandLine(more: Readonly<Record<string, string>> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-cli-'));
  const database = await createTestDatabase();
  const pool = createPool(database.connection, {
    maxConnections: 2,
    log: { warn: () => {} },
    connectTimeoutMs: TEST_CONNECT_TIMEOUT_MS,
  });
  after(async () => {
    await pool.end();
    await database.drop();
    await rm(directory, { recursive: true });
  });
  const settings = { DATABASE_URL: database.url, LATCHKEY_SECRET: COMMAND_LINE_SECRET, ...more };
  const run = (...args: string[]): Promise<CommandRun> =>
    runLatchkey(args, { directory, settings });
  const runWithInput = (args: readonly string[], input = ''): Promise<CommandRun> =>
    runLatchkey(args, { directory, settings, input });
  /** Runs a command that must succeed, and returns the JSON that it prints. */
  const runJson = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  return { directory, databaseUrl: database.url, settings, pool, run, runWithInput, runJson };
}
