import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { createFakeWorker, WORKER_URL } from '../../test/workers/fake-worker.ts';
import { endRetired, limitStart } from './worker-deadlines.ts';

const MINUTE_MS = 60_000;

/** A worker whose deadlines run on mocked time. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const kills: string[] = [];
  const logged: unknown[] = [];
  const log = { error: (fields: unknown) => void logged.push(fields) };
  const fake = createFakeWorker(1);
  const worker = { ...fake, kill: (signal: string) => void kills.push(signal) };
  return { kills, logged, log, worker };
}

test('a worker that does not listen within five minutes is killed once', (t) => {
  const { kills, logged, log, worker } = setUp(t);
  limitStart(worker, log);
  t.mock.timers.tick(5 * MINUTE_MS - 1);
  assert.deepEqual(kills, []);
  t.mock.timers.tick(10 * MINUTE_MS);
  assert.deepEqual(kills, ['SIGKILL']);
  assert.deepEqual(logged, [{ event: 'worker.start_timeout', worker: 1, pid: 1 }]);
});

test('the time of migrations does not count as start', (t) => {
  const { kills, log, worker } = setUp(t);
  limitStart(worker, log);
  worker.isMigrating = true;
  t.mock.timers.tick(60 * MINUTE_MS);
  worker.isMigrating = false;
  t.mock.timers.tick(5 * MINUTE_MS - 1);
  assert.deepEqual(kills, []);
  t.mock.timers.tick(1);
  assert.deepEqual(kills, ['SIGKILL']);
});

test('a worker that listens in time has no deadline', async (t) => {
  const { kills, log, worker } = setUp(t);
  limitStart(worker, log);
  worker.listen();
  assert.equal(await worker.ready, WORKER_URL);
  t.mock.timers.tick(60 * MINUTE_MS);
  assert.deepEqual(kills, []);
});

test('a worker that does not end in time is killed', async (t) => {
  const { kills, logged, log, worker } = setUp(t);
  const ending = endRetired(worker, log);
  t.mock.timers.tick(89_999);
  assert.deepEqual(kills, []);
  t.mock.timers.tick(1);
  assert.deepEqual(kills, ['SIGKILL']);
  assert.deepEqual(logged, [{ event: 'worker.stop_timeout', worker: 1, pid: 1 }]);
  worker.end({ code: null, signal: 'SIGKILL' });
  await ending;
});
