import assert from 'node:assert/strict';
import cluster from 'node:cluster';
import { test } from 'node:test';

import { EarlyEnd, launchWorker } from './worker-process.ts';

const ASSIGNMENT = { number: 1, isFirst: true, embedded: null };

test('a worker whose process cannot be started has ended', async () => {
  // The system finds no such directory.
  cluster.setupPrimary({ exec: import.meta.filename, cwd: '/does/not/exist' });
  const worker = launchWorker(ASSIGNMENT, {});
  const end = await worker.ended;
  assert.match(end.error ?? '', /^spawn .* ENOENT$/u);
  await assert.rejects(worker.ready, new EarlyEnd(end));
  worker.kill('SIGKILL');
});

test('a worker that Node refuses to start has ended', async () => {
  cluster.setupPrimary({ exec: import.meta.filename, cwd: 'a\0b' });
  const worker = launchWorker(ASSIGNMENT, {});
  const end = await worker.ended;
  assert.match(end.error ?? '', /null bytes/u);
  await assert.rejects(worker.ready, new EarlyEnd(end));
  await assert.rejects(worker.channel.request('metrics', null, 1), /no answer to metrics in 1 ms/u);
});
