import assert from 'node:assert/strict';
import { once } from 'node:events';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { systemClock } from '#server/clock.ts';
import { createLog } from '#server/log.ts';
import { createMetrics } from '#server/metrics.ts';

import { openTestPool } from '../../test/database-pool.ts';
import { eventually } from '../../test/eventually.ts';
import { addJobs } from './add-jobs.ts';
import { countBacklog } from './count-backlog.ts';
import { countJobs, listJobs, retryJobs } from './queries.ts';
import { startJobs, type RunningJobs } from './run-jobs.ts';
import { defineTask } from './task.ts';

const pool = await openTestPool();
const POLL_MS = 20;

type Work = (transactionId: string, signal: AbortSignal) => Promise<void>;

let lines: string[] = [];
let running: RunningJobs[] = [];
let metrics = createMetrics({ version: 'test' });

/** Another process that does jobs by this work. */
function start(work: Work): RunningJobs {
  const log = createLog({
    level: 'trace',
    destination: { write: (line) => void lines.push(line) },
  });
  const task = defineTask('send_key_email', ({ transactionId }, signal) =>
    work(transactionId, signal),
  );
  const count = () => countBacklog({ pool, clock: systemClock, paddleApi: null });
  const upkeep = { tasks: [task], countBacklog: count, pollIntervalMs: POLL_MS };
  const jobs = startJobs({ pool, log, metrics, ...upkeep });
  running.push(jobs);
  return jobs;
}

const mail = (transactionId: string) => ({ provider: 'paddle', transactionId });
const add = (id: string, options = {}) =>
  addJobs(pool, [{ name: 'send_key_email', payload: mail(id), ...options }]);

/** How often a connection was taken: once for each look, as long as no job is done. */
let looks = 0;
pool.on('acquire', () => {
  looks += 1;
});

/** Waits until the loop has looked twice more; nobody else asks the database meanwhile. */
async function twoMoreLooks(): Promise<void> {
  const before = looks;
  await eventually(() => looks >= before + 2);
}

const logged = () => lines.map((line) => JSON.parse(line));

beforeEach(async () => {
  await pool.query('truncate graphile_worker._private_jobs');
  lines = [];
  running = [];
  metrics = createMetrics({ version: 'test' });
});

afterEach(async () => {
  await Promise.all(running.map((jobs) => jobs.stop()));
});

test('each job is done once, however many processes look for them', async () => {
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

test('a job that takes long keeps no other from its turn', async () => {
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

test('two jobs are done at once and no more', async () => {
  let [underWay, most] = [0, 0];
  start(async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await eventually(() => most >= 2);
    // Several looks long, so that a third one would be begun if it could.
    await sleep(5 * POLL_MS);
    underWay -= 1;
  });
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await add(id);
  await eventually(async () => (await countJobs(pool)).open === 0);
  assert.equal(most, 2);
});

test('a job that fails is tried again later; what is logged and kept says neither address nor key', async () => {
  start(async () => {
    throw new Error('550 <ann@example.com> refused LK-ABCDE-ABCDE-ABCDE-ABCDE-ABCDE');
  });
  await add('txn_1');
  await eventually(async () => (await listJobs(pool, ['waiting'], 9))[0]?.attempts === 1);
  const [job] = await listJobs(pool, ['waiting'], 9);
  assert.equal(job?.lastError, '550 <[e-mail]> refused [license key]');
  const pausedUntil = job?.nextAt.getTime() ?? 0;
  const pauseMs = Math.floor(Math.E * 1_000);
  assert.ok(pausedUntil >= (job?.addedAt.getTime() ?? 0) + pauseMs, 'not sooner');
  assert.ok(pausedUntil <= Date.now() + pauseMs + 1, 'nor later');
  const entry = logged().find(({ level }) => level === 'warn');
  assert.equal(entry.msg, 'a job failed and will be tried again');
  assert.deepEqual([entry.job, entry.attempt], ['send_key_email', 1]);
  assert.doesNotMatch(lines.join(''), /ann@example|ABCDE|txn_1/u);
});

test('a job tried as often as it may be is given up, counted, and done when it is asked for again', async () => {
  let broken = true;
  start(async () => {
    if (broken) throw new Error('no');
  });
  await add('txn_1', { maxAttempts: 1 });
  await eventually(async () => (await countJobs(pool)).givenUp === 1);
  assert.deepEqual(await countJobs(pool), { open: 0, givenUp: 1 });
  const entry = logged().find(({ level }) => level === 'error');
  assert.equal(entry.msg, 'a job failed for the last time: see latchkey jobs list');
  const [job] = await listJobs(pool, ['given_up'], 9);
  broken = false;
  assert.equal(await retryJobs(pool, [job?.id ?? 0]), 1);
  await eventually(async () => (await countJobs(pool)).open === 0);
  assert.deepEqual(await countJobs(pool), { open: 0, givenUp: 0 });
});

test('a job that is replaced while it runs does not count as failed, and the newer one is done', async () => {
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
  assert.deepEqual(await countJobs(pool), { open: 0, givenUp: 0 });
});

test('jobs of a killed process begin again, those that may still be under way do not', async () => {
  for (const id of ['long_ago', 'just_now']) await add(id);
  await pool.query(
    `update graphile_worker._private_jobs
     set locked_by = 'pool-gone-' || (payload ->> 'transactionId'), attempts = 1,
         locked_at = now() - case payload ->> 'transactionId' when 'long_ago' then interval '241 s' else interval '200 s' end`,
  );
  const done: string[] = [];
  start(async (id) => void done.push(id));
  await eventually(() => done.length > 0);
  // It would be begun before one that is added now.
  await add('later');
  await eventually(() => done.includes('later'));
  assert.deepEqual(done, ['long_ago', 'later']);
});

test('a stop waits for the job under way and begins no other', async () => {
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
  // The stop has come to both by then; if it had not, another would begin and this test fail.
  await sleep(50);
  free.resolve();
  await stopped;
  // Two lanes took them, in whichever order.
  assert.deepEqual(begun.toSorted(), ['a', 'b']);
  assert.deepEqual(await countJobs(pool), { open: 2, givenUp: 0 });
  assert.equal((await listJobs(pool, ['running'], 9)).length, 0);
});

test('a stop tells a job that does not end to do so, and the job is tried again', async () => {
  const begun = Promise.withResolvers<void>();
  const jobs = start(async (_, signal) => {
    begun.resolve();
    await once(signal, 'abort');
    throw new Error('told to end');
  });
  await add('stubborn');
  await begun.promise;
  const startedAt = performance.now();
  running = [];
  await jobs.stop();
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs > 4_000 && tookMs < 20_000, `${tookMs} ms`);
  assert.equal((await listJobs(pool, ['waiting'], 9))[0]?.attempts, 1);
});

test('a database that is away is said once, and jobs are done when it is back', async () => {
  const done: string[] = [];
  await pool.query('alter table graphile_worker._private_jobs rename to away');
  start(async (id) => void done.push(id));
  await eventually(() => logged().length === 1);
  await twoMoreLooks();
  await pool.query('alter table graphile_worker.away rename to _private_jobs');
  await add('txn_1');
  await eventually(() => done.length === 1);
  const messages = logged().map(({ msg }) => msg);
  assert.deepEqual(messages, ['jobs cannot be looked for', 'jobs can be done again']);
});
