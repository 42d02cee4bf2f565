/**
 * A worker that could not take a connection, for lack of file descriptors, received no other one and was not replaced: with all workers in
 * this state, the service answered nothing until it was restarted.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Supervisor } from '#server/workers/supervisor.ts';

import { eventually } from '../eventually.ts';
import { createFakeWorker, SILENT_LOG, type FakeWorker } from '../workers/fake-worker.ts';

test('replaces a worker that could not take a connection', async () => {
  const workers: FakeWorker[] = [];
  const supervisor = new Supervisor({
    count: 2,
    log: SILENT_LOG,
    launch: (number) => {
      const worker = createFakeWorker(number);
      workers.push(worker);
      worker.listen();
      return worker;
    },
    onEnd: () => {},
  });
  await supervisor.start();
  for (const worker of workers.slice(0, 2)) worker.loseConnection();
  await eventually(() => supervisor.counts.running === 2 && workers.length === 4);
  assert.deepEqual(
    supervisor.ready.map(({ number }) => number),
    [3, 4],
  );
  await supervisor.stop();
});
