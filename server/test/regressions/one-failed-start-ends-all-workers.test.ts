/**
 * With `--workers`, the service ended when its database was recovering while the second worker started: the supervisor stopped all
 * workers because one of them ended at its start, although the first one served requests.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Supervisor } from '#server/workers/supervisor.ts';
import { EarlyEnd, type ProcessEnd } from '#server/workers/worker-process.ts';

import { eventually } from '../eventually.ts';
import { createFakeWorker, SILENT_LOG, WORKER_URL } from '../workers/fake-worker.ts';

const FAILED: ProcessEnd = { code: 1, signal: null };

/** @param failing the numbers of the workers that end at their start; the others listen */
function createSupervisor(failing: readonly number[]): Supervisor {
  return new Supervisor({
    count: 2,
    log: SILENT_LOG,
    launch: (number) => {
      const worker = createFakeWorker(number);
      if (failing.includes(number)) worker.end(FAILED);
      else worker.listen();
      return worker;
    },
    onEnd: () => {},
  });
}

test('replaces a worker that ends at its start while another one serves requests', async () => {
  const supervisor = createSupervisor([2, 3]);
  assert.equal(await supervisor.start(), WORKER_URL);
  assert.ok(supervisor.counts.running >= 1);
  await eventually(() => supervisor.counts.running === 2);
  assert.deepEqual(
    supervisor.ready.map(({ number }) => number),
    [1, 4],
  );
  await supervisor.stop();
});

test('fails when the first worker ends at its start', async () => {
  await assert.rejects(createSupervisor([1]).start(), new EarlyEnd(FAILED));
});
