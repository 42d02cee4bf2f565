import assert from 'node:assert/strict';
import cluster from 'node:cluster';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { eventually } from '../../test/eventually.ts';
import { EarlyEnd, launchWorker } from './worker-process.ts';

/** A program that migrates until it gets a message. */
const PROGRAM = `
  process.send({ latchkey: 'migrating', payload: true });
  process.once('message', () => {
    process.send({ latchkey: 'migrating', payload: false });
    process.send({ latchkey: 'ready', payload: 'http://127.0.0.1:8080' });
  });
`;

/** A program that sends requests, and then reads no answer. */
const FLOODING_PROGRAM = `
  let sent = 0;
  for (let id = 0; id < 1_000; id++) {
    process.send({ latchkey: 'flood', id }, undefined, undefined, () => {
      sent++;
      if (sent === 1_000) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });
  }
`;

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

test('a worker reports that it migrates, and its URL', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-worker-'));
  t.after(() => rm(directory, { recursive: true }));
  const program = join(directory, 'worker.mjs');
  await writeFile(program, PROGRAM);
  cluster.setupPrimary({ exec: program, cwd: directory, execArgv: [] });
  const worker = launchWorker(ASSIGNMENT, {});
  assert.equal(worker.isMigrating, false);
  await eventually(() => worker.isMigrating);
  worker.channel.notify('continue');
  assert.equal(await worker.ready, 'http://127.0.0.1:8080');
  assert.equal(worker.isMigrating, false);
  worker.kill('SIGKILL');
  assert.deepEqual(await worker.ended, { code: null, signal: 'SIGKILL' });
});

test('a worker that requests more than it reads is noticed, and receives no more', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-worker-'));
  t.after(() => rm(directory, { recursive: true }));
  const program = join(directory, 'worker.mjs');
  await writeFile(program, FLOODING_PROGRAM);
  cluster.setupPrimary({ exec: program, cwd: directory, execArgv: [] });
  let answered = 0;
  const answer = 'a'.repeat(10_000);
  const worker = launchWorker(ASSIGNMENT, {
    flood() {
      answered++;
      return answer;
    },
  });
  await worker.stoppedReading;
  await eventually(() => answered === 1_000);
  worker.kill('SIGKILL');
  assert.deepEqual(await worker.ended, { code: null, signal: 'SIGKILL' });
});

test('a worker that Node refuses to start has ended', async () => {
  cluster.setupPrimary({ exec: import.meta.filename, cwd: 'a\0b' });
  const worker = launchWorker(ASSIGNMENT, {});
  const end = await worker.ended;
  assert.match(end.error ?? '', /null bytes/u);
  await assert.rejects(worker.ready, new EarlyEnd(end));
  await assert.rejects(worker.channel.request('metrics', null, 1), /no answer to metrics in 1 ms/u);
});
