import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { createFakeWorker } from '../../test/workers/fake-worker.ts';
import { killWhenHung } from './kill-when-hung.ts';

const INTERVAL_MS = 10_000;

function watch(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const kills: string[] = [];
  const logged: unknown[] = [];
  const worker = { ...createFakeWorker(1), kill: (signal: string) => void kills.push(signal) };
  killWhenHung(worker, { error: (fields: unknown) => void logged.push(fields) });
  return { kills, logged, worker };
}

test('kills a worker that answers nothing for a minute', (t) => {
  const { kills, logged } = watch(t);
  t.mock.timers.tick(5 * INTERVAL_MS);
  assert.deepEqual(kills, []);
  t.mock.timers.tick(INTERVAL_MS);
  assert.deepEqual(kills, ['SIGKILL']);
  assert.deepEqual(logged, [{ event: 'worker.hung', worker: 1, pid: 1 }]);
});

test('does not kill a worker that answers, be it with an error', (t) => {
  const { kills, worker } = watch(t);
  for (let count = 0; count < 20; count++) {
    worker.channel.receive({ answer: count, error: 'unknown message ping' });
    t.mock.timers.tick(INTERVAL_MS);
  }
  assert.deepEqual(kills, []);
});

test('kills a worker that requests more than it reads', async (t) => {
  const { kills, logged, worker } = watch(t);
  worker.stopReading();
  await worker.stoppedReading;
  assert.deepEqual(kills, ['SIGKILL']);
  assert.deepEqual(logged, [{ event: 'worker.stopped_reading', worker: 1, pid: 1 }]);
});

test('does not kill the next process with the id of a worker that has ended', async (t) => {
  const { kills, worker } = watch(t);
  worker.end({ code: 0, signal: null });
  await worker.ended;
  t.mock.timers.tick(20 * INTERVAL_MS);
  assert.deepEqual(kills, []);
});
