import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { signalProcess } from '#server/db/embedded/processes.ts';

import { eventually } from '../eventually.ts';
import { readMemoryMib } from '../memory.ts';
import { openRawConnection, renderPost, tallyAnswers } from '../raw-http.ts';
import { listDatabaseProcesses, createServiceHome } from '../service-process.ts';
import { assertUnavailable, issueForLoad, slowestMs, failuresOf } from './loaded-service.ts';
import { verifyLedger } from './verify-ledger.ts';
import { startRecordedLoad } from './recorded-load.ts';

/** A connection times out after 3 s and a statement after 5 s; the rest is for a busy machine. */
const MAX_RESPONSE_MS = 15_000;

/** The limit of calls that wait for the look-up of a key. */
const MAX_WAITING = 8_192;
const CROWD_CONNECTIONS = 45;
const CROWD_REQUESTS_EACH = 200;
const MAX_GROWTH_MIB = 300;

/** A request waits for the database for 5 s at most; on a busy machine the crowd's responses come slowly, but they come. */
const MAX_SILENCE_MS = 60_000;

test(
  'a frozen database fails requests in time, its queue is bounded, and requests succeed after it resumes',
  { skip: process.platform !== 'linux' },
  async () => {
    await using home = await createServiceHome();
    const service = await home.start();
    const keys = await issueForLoad(home);
    await using load = startRecordedLoad(async () => service.url, keys);
    await load.waitForAnswers(150);
    const memoryBefore = await readMemoryMib(service.pid);
    const database = await listDatabaseProcesses(home.dataDirectory);
    try {
      for (const pid of database) signalProcess(pid, 'SIGSTOP');
      // The database is frozen from here on.
      await Promise.all([assertNotReady(service.url), assertQueueIsBounded(service.url)]);
    } finally {
      for (const pid of database) signalProcess(pid, 'SIGCONT');
    }
    await load.waitForAnswers(150);
    const ledger = await load.stop();
    const { outcomes } = ledger;
    assert.deepEqual(failuresOf(outcomes), [503]);
    assertUnavailable(outcomes, ['database_unavailable', 'overloaded']);
    assert.ok(slowestMs(outcomes) < MAX_RESPONSE_MS, `a request took ${slowestMs(outcomes)} ms`);
    await verifyLedger(service.url, ledger);
    assert.equal((await fetch(`${service.url}/api/v1/health/ready`)).status, 200);
    const growth = (await readMemoryMib(service.pid)) - memoryBefore;
    assert.ok(growth < MAX_GROWTH_MIB, `memory grew by ${growth} MiB`);
  },
);

async function assertNotReady(url: string): Promise<void> {
  assert.equal((await fetch(`${url}/api/v1/health/live`)).status, 200);
  let body = '';
  await eventually(async () => {
    const response = await fetch(`${url}/api/v1/health/ready`);
    body = await response.text();
    return response.status === 503;
  });
  assert.match(body, /^\{"status":"not_ready"/u);
}

/** Sends more requests than may wait: the excess is rejected at once, the others when the database times out. */
async function assertQueueIsBounded(url: string): Promise<void> {
  const question = renderPost('/api/v1/licenses/activate', {
    license_key: 'LK-00000-00000-00000-00000-00000',
    machine_fingerprint: { machine_id: 'one of many' },
  });
  using connections = new DisposableStack();
  const crowd = await Promise.all(
    Array.from({ length: CROWD_CONNECTIONS }, async () => {
      const connection = connections.use(await openRawConnection(url));
      connection.send(question.repeat(CROWD_REQUESTS_EACH));
      return connection;
    }),
  );
  const countAll = (): number => crowd.reduce((sum, each) => sum + each.countAnswers(), 0);
  // The service stops reading while rejections are unread, so the last responses may come later.
  for (let count = 0, changedAt = performance.now(); count < MAX_WAITING; await sleep(50)) {
    const silenceMs = performance.now() - changedAt;
    assert.ok(silenceMs < MAX_SILENCE_MS, `${count} responses, then none for ${silenceMs} ms`);
    if (countAll() > count) changedAt = performance.now();
    count = countAll();
  }
  const tallies = crowd.map(({ received }) => tallyAnswers(received));
  const codes = new Set(tallies.flatMap((tally) => Object.keys(tally)));
  // A busy machine may read too few requests before the first ones time out to exceed the queue.
  codes.delete('overloaded');
  assert.deepEqual([...codes], ['database_unavailable']);
}
