import assert from 'node:assert/strict';
import { test } from 'node:test';

import { eventually } from '../../test/eventually.ts';
import { createFakeWorker, WORKER_URL, type FakeWorker } from '../../test/workers/fake-worker.ts';
import { Supervisor } from './supervisor.ts';

/** A supervisor of two workers, of which only the first one listens by itself. */
function setUp() {
  const workers: FakeWorker[] = [];
  const errors: unknown[] = [];
  const error = (fields: object): void => void errors.push('event' in fields && fields.event);
  const supervisor = new Supervisor({
    count: 2,
    log: { info: () => {}, warn: () => {}, error },
    launch: (number) => {
      const worker = createFakeWorker(number);
      workers.push(worker);
      if (number === 1) worker.listen();
      const kill = (): void => worker.end({ code: null, signal: 'SIGTERM' });
      return { ...worker, kill };
    },
    onEnd: () => {},
  });
  return { errors, supervisor, workers };
}

test('the service has started when its first worker serves requests and the others are forked', async () => {
  const { supervisor, workers } = setUp();
  assert.equal(await supervisor.start(), WORKER_URL);
  assert.equal(workers.length, 2);
  assert.deepEqual(supervisor.counts, { running: 1, wanted: 2 });
  await supervisor.stop();
});

test('a stop while others start, or during a rolling restart, logs no error', async () => {
  const { errors, supervisor, workers } = setUp();
  await supervisor.start();
  const rolling = supervisor.roll();
  workers[1]?.listen();
  await supervisor.stop();
  await rolling;
  assert.deepEqual(errors, []);
});

test('replaces a worker that does not start within five minutes', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { errors, supervisor, workers } = setUp();
  await supervisor.start();
  for (let seconds = 0; seconds < 300; seconds += 10) {
    assert.deepEqual(errors, []);
    // They answer the pings.
    for (const { channel } of workers) channel.receive({ answer: 0 });
    t.mock.timers.tick(10_000);
  }
  await eventually(() => workers.length === 3);
  assert.deepEqual(errors, ['worker.start_timeout', 'worker.ended']);
  workers[2]?.listen();
  await workers[2]?.ready;
  assert.deepEqual(supervisor.counts, { running: 2, wanted: 2 });
  await supervisor.stop();
});
