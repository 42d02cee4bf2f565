import assert from 'node:assert/strict';
import { once } from 'node:events';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { createLog } from '#server/log.ts';
import { createMetrics } from '#server/metrics.ts';

import { openTestPool } from '../../test/database-pool.ts';
import { eventually } from '../../test/eventually.ts';
import { addJobs } from './add-jobs.ts';
import type { BackgroundTask } from './background-task.ts';
import { createJobQueue, defineJobHandler } from './job-queue.ts';
import {
  claimJobs,
  countJobs,
  listJobs,
  rescheduleSingleton,
  retryJobs,
  scheduleSingletons,
  type ClaimedJob,
} from './queries.ts';
import { QueueRunner } from './work-queue.ts';

const pool = await openTestPool();
const POLL_MS = 20;

type Work = (transactionId: string, signal: AbortSignal) => Promise<void>;

let lines: string[] = [];
let running: QueueRunner<ClaimedJob>[] = [];
let metrics = createMetrics({ version: 'test' });

/** Runs jobs as another process does. */
function start(work: Work, singletons: readonly BackgroundTask[] = []): QueueRunner<ClaimedJob> {
  const log = createLog({
    level: 'trace',
    destination: { write: (line) => void lines.push(line) },
  });
  const handler = defineJobHandler('send_key_email', ({ transactionId }, signal) =>
    work(transactionId, signal),
  );
  const options = { pool, log, metrics, handlers: [handler], singletons, pollIntervalMs: POLL_MS };
  const runner = new QueueRunner(createJobQueue(options), { log, metrics });
  running.push(runner);
  runner.start();
  return runner;
}

const mail = (transactionId: string) => ({ provider: 'paddle', transactionId });
const add = (id: string, options = {}) =>
  addJobs(pool, [{ name: 'send_key_email', payload: mail(id), ...options }]);

/** The number of acquired connections: one for each poll while no job runs. */
let polls = 0;
pool.on('acquire', () => {
  polls += 1;
});

/** Waits for two more polls; nothing else may use the pool. */
async function waitForTwoPolls(): Promise<void> {
  const before = polls;
  await eventually(() => polls >= before + 2);
}

const logged = () => lines.map((line) => JSON.parse(line));

beforeEach(async () => {
  await pool.query('truncate jobs');
  lines = [];
  running = [];
  metrics = createMetrics({ version: 'test' });
});

afterEach(async () => {
  await Promise.all(running.map((runner) => runner.stop()));
});

test('runs each job once, however many processes claim them', async () => {
  const done: string[] = [];
  const work: Work = async (id) => void done.push(id);
  const ids = Array.from({ length: 60 }, (_, index) => `txn_${index}`);
  await addJobs(
    pool,
    ids.map((id) => ({ name: 'send_key_email', payload: mail(id) })),
  );
  for (let process = 0; process < 3; process++) start(work);
  await eventually(async () => (await countJobs(pool)).open === 0);
  assert.deepEqual(done.toSorted(), ids.toSorted());
  assert.match(
    await metrics.render(),
    /latchkey_job_attempts_total\{job="send_key_email",outcome="done"\} 60/u,
  );
});

test('runs other jobs while a long one runs', async () => {
  const free = Promise.withResolvers<void>();
  const begun: string[] = [];
  start(async (id) => {
    begun.push(id);
    if (id === 'slow') await free.promise;
  });
  await add('slow');
  await eventually(() => begun.length === 1);
  for (const id of ['quick', 'next']) {
    await add(id);
    await eventually(() => begun.includes(id));
  }
  assert.deepEqual(begun, ['slow', 'quick', 'next']);
  free.resolve();
});

test('runs two jobs at the same time and no more', async () => {
  let [underWay, most] = [0, 0];
  start(async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await eventually(() => most >= 2);
    // Several polls long, so that a third job would start if it could.
    await sleep(5 * POLL_MS);
    underWay -= 1;
  });
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await add(id);
  await eventually(async () => (await countJobs(pool)).open === 0);
  assert.equal(most, 2);
});

test('retries a failed job later, and logs and stores its error without addresses and keys', async () => {
  start(async () => {
    throw new Error('550 <ann@example.com> refused LK-ABCDE-ABCDE-ABCDE-ABCDE-ABCDE');
  });
  await add('txn_1');
  await eventually(async () => (await listJobs(pool, ['waiting'], 9))[0]?.attempts === 1);
  const [job] = await listJobs(pool, ['waiting'], 9);
  assert.equal(job?.lastError, '550 <[e-mail]> refused [license key]');
  const pausedUntil = job?.nextAt.getTime() ?? 0;
  const delayMs = Math.E * 1_000;
  assert.ok(pausedUntil >= (job?.addedAt.getTime() ?? 0) + Math.floor(0.9 * delayMs), 'not sooner');
  assert.ok(pausedUntil <= Date.now() + 1.1 * delayMs + 1, 'nor later');
  const entry = logged().find(({ level }) => level === 'warn');
  assert.equal(entry.event, 'jobs.attempt_failed');
  assert.deepEqual([entry.job, entry.attempt], ['send_key_email', 1]);
  assert.doesNotMatch(lines.join(''), /ann@example|ABCDE|txn_1/u);
});

test('stops retrying a job that exhausted its attempts, and runs it on request', async () => {
  let broken = true;
  start(async () => {
    if (broken) throw new Error('no');
  });
  await add('txn_1', { maxAttempts: 1 });
  await eventually(async () => (await countJobs(pool)).failed === 1);
  assert.deepEqual(await countJobs(pool), { open: 0, failed: 1 });
  const entry = logged().find(({ level }) => level === 'error');
  assert.equal(entry.event, 'jobs.exhausted');
  const [job] = await listJobs(pool, ['failed'], 9);
  broken = false;
  assert.equal(await retryJobs(pool, [job?.id ?? 0]), 1);
  await eventually(async () => (await countJobs(pool)).open === 0);
  assert.deepEqual(await countJobs(pool), { open: 0, failed: 0 });
});

test('ignores the failure of a job that was replaced while it ran, and runs the new one', async () => {
  const first = Promise.withResolvers<void>();
  const begun: string[] = [];
  start(async (id) => {
    begun.push(id);
    if (id === 'old') await first.promise;
  });
  await add('old', { key: 'same' });
  await eventually(() => begun.length === 1);
  await add('new', { key: 'same' });
  await eventually(() => begun.includes('new'));
  first.reject(new Error('no'));
  await eventually(async () => (await countJobs(pool)).open === 0);
  assert.deepEqual(await countJobs(pool), { open: 0, failed: 0 });
});

test('retries jobs whose lease has expired, but not those of running processes', async () => {
  for (const id of ['long_ago', 'just_now']) await add(id);
  await pool.query(
    `update jobs
     set lease_id = gen_random_uuid(), attempts = 1,
         leased_until = now() + case payload ->> 'transactionId' when 'long_ago' then interval '-1 s' else interval '40 s' end`,
  );
  const done: string[] = [];
  start(async (id) => void done.push(id));
  await eventually(() => done.length > 0);
  // It would start before a job that is added now.
  await add('later');
  await eventually(() => done.includes('later'));
  assert.deepEqual(done, ['long_ago', 'later']);
});

test('a stop waits for running jobs and starts no other', async () => {
  const begun: string[] = [];
  const free = Promise.withResolvers<void>();
  const jobs = start(async (id) => {
    begun.push(id);
    await free.promise;
  });
  for (const id of ['a', 'b', 'c', 'd']) await add(id);
  await eventually(() => begun.length === 2);
  const stopped = jobs.stop();
  running = [];
  // Both workers have stopped by then; otherwise another job would start and this test would fail.
  await sleep(50);
  free.resolve();
  await stopped;
  // Two workers claimed them, in any order.
  assert.deepEqual(begun.toSorted(), ['a', 'b']);
  assert.deepEqual(await countJobs(pool), { open: 2, failed: 0 });
  assert.equal((await listJobs(pool, ['running'], 9)).length, 0);
});

test('a stop aborts jobs: one that ends is retried, one that ignores its signal keeps its lease', async () => {
  const begun: string[] = [];
  const ended = Promise.withResolvers<void>();
  const jobs = start(async (id, signal) => {
    begun.push(id);
    if (id === 'deaf') return ended.promise;
    await once(signal, 'abort');
    throw new Error('stopped');
  });
  for (const id of ['stubborn', 'deaf']) await add(id);
  await eventually(() => begun.length === 2);
  const startedAt = performance.now();
  running = [];
  await jobs.stop();
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs > 4_000 && tookMs < 20_000, `${tookMs} ms`);
  const waiting = await listJobs(pool, ['waiting'], 9);
  assert.deepEqual(
    waiting.map(({ attempts, lastError }) => [attempts, lastError]),
    [[1, 'stopped']],
  );
  assert.equal((await listJobs(pool, ['running'], 9)).length, 1);
  assert.ok(logged().some(({ event }) => event === 'jobs.outcome_lost'));
  ended.resolve();
});

test('logs an outage of the database once, and runs jobs when it is over', async () => {
  const done: string[] = [];
  await pool.query('alter table jobs rename to away');
  start(async (id) => void done.push(id));
  await eventually(() => logged().length === 1);
  await waitForTwoPolls();
  await pool.query('alter table away rename to jobs');
  await add('txn_1');
  await eventually(() => done.length === 1);
  const events = logged().map(({ event }) => event);
  assert.deepEqual(events, ['jobs.claim_failed', 'jobs.claim_recovered']);
});

test('runs a singleton once in all processes at its interval, also after a failure, and logs the failure once', async () => {
  let runs = 0;
  const singleton: BackgroundTask = {
    name: 'tidy_up',
    scope: 'singleton',
    intervalMs: 3_600_000,
    event: 'test.tidy',
    action: 'tidy up',
    run: async () => {
      runs += 1;
      if (runs < 3) throw new Error('full');
    },
  };
  const runDue = async () => {
    const expected = runs + 1;
    await scheduleSingletons(pool, ['tidy_up'], []);
    await eventually(() => runs === expected);
    await eventually(async () => (await listJobs(pool, ['running'], 9)).length === 0);
  };
  for (let process = 0; process < 3; process++) start(async () => {}, [singleton]);
  await runDue();
  const [row] = await listJobs(pool, ['waiting'], 9);
  assert.deepEqual([row?.key, row?.attempts, row?.lastError], ['tidy_up:singleton', 0, 'full']);
  assert.ok((row?.nextAt.getTime() ?? 0) > Date.now() + 3_500_000);
  await runDue();
  await runDue();
  assert.equal((await listJobs(pool, ['waiting'], 9))[0]?.lastError, null);
  const { rows } = await pool.query(
    'select finished_at > failed_at as recovered, took_ms >= 0 as measured from jobs',
  );
  assert.deepEqual(rows, [{ recovered: true, measured: true }]);
  assert.equal(runs, 3);
  await scheduleSingletons(pool, [], ['tidy_up']);
  assert.deepEqual(await listJobs(pool, ['waiting'], 9), []);
});

test('a start makes a running singleton due, and no second process claims it', async () => {
  const tidyUp = [{ name: 'tidy_up', leaseMs: 60_000 }];
  await scheduleSingletons(pool, ['tidy_up'], []);
  const [first] = await claimJobs(pool, tidyUp, 1);
  await scheduleSingletons(pool, ['tidy_up'], []);
  assert.deepEqual(await claimJobs(pool, tidyUp, 1), []);
  assert.ok(first !== undefined);
  await rescheduleSingleton(pool, first, { error: null, delayMs: 0, tookMs: 0 });
  assert.equal((await claimJobs(pool, tidyUp, 1)).length, 1);
});

test('a singleton that exceeds its time limit fails once, and starts nowhere again before its work ends', async () => {
  const ends: PromiseWithResolvers<void>[] = [];
  const signals: AbortSignal[] = [];
  const singleton: BackgroundTask = {
    name: 'tidy_up',
    scope: 'singleton',
    intervalMs: 3_600_000,
    timeoutMs: 20,
    event: 'test.tidy',
    action: 'tidy up',
    run: async (signal) => {
      const end = Promise.withResolvers<void>();
      ends.push(end);
      signals.push(signal);
      await end.promise;
    },
  };
  await scheduleSingletons(pool, ['tidy_up'], []);
  for (let process = 0; process < 2; process++) start(async () => {}, [singleton]);
  await eventually(() => signals[0]?.aborted === true);
  await scheduleSingletons(pool, ['tidy_up'], []);
  await waitForTwoPolls();
  await waitForTwoPolls();
  assert.equal(ends.length, 1);
  ends[0]?.resolve();
  await eventually(async () => (await listJobs(pool, ['waiting'], 9))[0]?.lastError !== undefined);
  const [row] = await listJobs(pool, ['waiting'], 9);
  assert.match(row?.lastError ?? '', /timeout/u);
  assert.deepEqual(
    logged().map(({ event }) => event),
    ['test.tidy_failed'],
  );
  const text = await metrics.render();
  assert.match(text, /^latchkey_task_failures_total\{task="tidy_up"\} 1$/mu);
  assert.doesNotMatch(text, /latchkey_job_attempts_total\{job="tidy_up"/u);
});
