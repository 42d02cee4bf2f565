/**
 * A rolling restart with SIGUSR2 kept a worker that was starting at that time, such as the replacement of one that had ended: it
 * replaced only those that served requests. So the worker could run the previous version from then on.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Supervisor } from '#server/workers/supervisor.ts';

import { eventually } from '../eventually.ts';
import { createFakeWorker, SILENT_LOG, type FakeWorker } from '../workers/fake-worker.ts';

test('a rolling restart also replaces a worker that is starting', async () => {
  const workers: FakeWorker[] = [];
  const supervisor = new Supervisor({
    count: 2,
    log: SILENT_LOG,
    launch: (number) => {
      const worker = createFakeWorker(number);
      workers.push(worker);
      // The third one is still starting when the rolling restart begins.
      if (number !== 3) worker.listen();
      return worker;
    },
    onEnd: () => {},
  });
  await supervisor.start();
  workers[0]?.end({ code: null, signal: 'SIGKILL' });
  await eventually(() => workers.length === 3);
  const rolling = supervisor.roll();
  workers[2]?.listen();
  await rolling;
  assert.deepEqual(
    supervisor.ready.map(({ number }) => number),
    [4, 5],
  );
  await supervisor.stop();
});
