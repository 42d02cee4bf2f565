/**
 * With `--workers`, the service ended when its database was recovering while the second worker started: the supervisor stopped all
 * workers because one of them ended at its start, although the first one served requests.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Channel } from '#server/workers/channel.ts';
import { Supervisor } from '#server/workers/supervisor.ts';
import { EarlyEnd, type ProcessEnd, type WorkerProcess } from '#server/workers/worker-process.ts';

import { eventually } from '../eventually.ts';

const URL_OF_ALL = 'http://127.0.0.1:8080';
const FAILED: ProcessEnd = { code: 1, signal: null };
const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** A worker that listens at once, or ends at its start. */
function createWorker(number: number, failsAtStart: boolean): WorkerProcess {
  const end = Promise.withResolvers<ProcessEnd>();
  const channel = new Channel((message) => {
    if (JSON.stringify(message).includes('"stop"')) end.resolve({ code: 0, signal: null });
  }, {});
  if (failsAtStart) end.resolve(FAILED);
  const ready = failsAtStart ? Promise.reject(new EarlyEnd(FAILED)) : Promise.resolve(URL_OF_ALL);
  ready.catch(() => {});
  return { number, pid: number, channel, ready, ended: end.promise, kill: () => {} };
}

function createSupervisor(failing: readonly number[]): Supervisor {
  return new Supervisor({
    count: 2,
    log: silent,
    launch: (number) => createWorker(number, failing.includes(number)),
    onEnd: () => {},
  });
}

test('replaces a worker that ends at its start while another one serves requests', async () => {
  const supervisor = createSupervisor([2, 3]);
  assert.equal(await supervisor.start(), URL_OF_ALL);
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
