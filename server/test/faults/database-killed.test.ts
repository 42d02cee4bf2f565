import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { readPostmasterPid } from '#server/db/embedded/postmaster.ts';

import { listDatabaseProcesses, createServiceHome } from '../service-process.ts';
import { assertUnavailable, issueForLoad, slowestMs, failuresOf } from './loaded-service.ts';
import { verifyLedger } from './verify-ledger.ts';
import { startRecordedLoad } from './recorded-load.ts';

/** The limit for a request while the database restarts. */
const MAX_RESPONSE_MS = 6_000;

test(
  'responds 503 until a killed database has restarted, and loses no acknowledged change',
  { skip: process.platform !== 'linux' },
  async () => {
    await using home = await createServiceHome();
    const service = await home.start();
    const keys = await issueForLoad(home);
    await using load = startRecordedLoad(async () => service.url, keys);
    for (const findVictim of [findPostmaster, findBackend]) {
      await load.waitForAnswers(150);
      process.kill(await findVictim(home.dataDirectory), 'SIGKILL');
    }
    await load.waitForAnswers(300);
    const ledger = await load.stop();
    const { outcomes } = ledger;
    assert.deepEqual(failuresOf(outcomes), [503]);
    assertUnavailable(outcomes, ['database_unavailable']);
    assert.ok(slowestMs(outcomes) < MAX_RESPONSE_MS, `a request took ${slowestMs(outcomes)} ms`);
    await verifyLedger(service.url, ledger);
    await service.waitForLine(/"level":"info".*"postgres.restarted"/u);
    assert.deepEqual(await service.stop(), { code: 0, signal: null });
    assert.deepEqual(await listDatabaseProcesses(home.dataDirectory), []);
  },
);

async function findPostmaster(dataDirectory: string): Promise<number> {
  const pid = await readPostmasterPid(join(dataDirectory, 'postgres'));
  assert.ok(pid !== null);
  return pid;
}

/** Finds a database process that serves a connection. */
async function findBackend(dataDirectory: string): Promise<number> {
  for (const pid of await listDatabaseProcesses(dataDirectory)) {
    const title = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    if (title.startsWith('postgres: latchkey latchkey')) return pid;
  }
  throw new Error('no connection is open');
}
