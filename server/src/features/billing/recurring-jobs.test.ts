import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { countJobs, listJobs } from '#server/jobs/queries.ts';
import { countBacklog } from '#server/jobs/count-backlog.ts';
import { startJobs } from '#server/jobs/run-jobs.ts';
import { createTasks } from '#server/jobs/tasks.ts';

import { eventually } from '../../../test/eventually.ts';
import { startTestService } from '../../../test/harness.ts';
import {
  paddleEvent,
  paddleTransactionCompleted,
} from '../../../test/payment-providers/paddle-events.ts';
import { deliverPaddle } from '../../../test/payment-providers/paddle-steps.ts';
import { HOUR_MS } from '../../../test/test-clock.ts';
import { PaddleApiError, type LoggedEvent, type PaddleApi } from './providers/paddle/paddle-api.ts';
import { findReconciliation } from './queries/reconciliations.ts';
import { beginRecurringJobs, reconcilePayments } from './recurring-jobs.ts';

let refusal: PaddleApiError | null = null;
let unseen: LoggedEvent[] = [];
const paddleApi: PaddleApi = {
  findCustomer: async () => null,
  listEvents: async () => {
    if (refusal !== null) throw refusal;
    return unseen.splice(0, 1);
  },
};
const service = await startTestService({ paddleApi });
const { ctx, pool } = service;

beforeEach(async () => {
  await pool.query('truncate graphile_worker._private_jobs, billing_reconciliations');
});

/** Does all jobs that are due, and waits until none is. */
async function doJobs(): Promise<void> {
  const { log, metrics } = ctx;
  const tasks = createTasks(ctx);
  const count = () => countBacklog(ctx);
  const jobs = startJobs({ pool, log, metrics, tasks, countBacklog: count, pollIntervalMs: 10 });
  const isDue = async () => {
    const listed = await listJobs(pool, ['waiting', 'running'], 9);
    return listed.some(({ nextAt, state }) => state === 'running' || nextAt <= new Date());
  };
  await eventually(async () => !(await isDue()));
  await jobs.stop();
}

async function listNext(): Promise<unknown[]> {
  const listed = await listJobs(pool, ['waiting'], 9);
  return listed.map(({ key, attempts, nextAt }) => [key, attempts, nextAt]);
}

const attempts = (outcome: string) =>
  new RegExp(`job_attempts_total\\{job="reconcile_payments",outcome="${outcome}"\\} 1\n`, 'u');

test('a comparison that fails is logged as an error, counted and stored, and the next one comes after an hour', async () => {
  await deliverPaddle(service, paddleTransactionCompleted());
  await pool.query('truncate graphile_worker._private_jobs');
  refusal = new PaddleApiError('Paddle answers 403');
  await beginRecurringJobs(ctx);
  await doJobs();
  const entry = service.log.map((line) => JSON.parse(line)).find(({ level }) => level === 'error');
  assert.deepEqual(
    [entry?.msg, entry?.job, entry?.err.message],
    [
      'a recurring job failed; the next one comes at its time',
      'reconcile_payments',
      'Paddle answers 403',
    ],
  );
  assert.match(await ctx.metrics.render(), attempts('failed'));
  const failedAt = service.clock.now();
  assert.deepEqual(await findReconciliation(pool, 'paddle'), {
    reconciledAt: null,
    failedAt,
    failure: 'Paddle answers 403',
  });
  const next = (await listNext()).find((job) => String(job).startsWith('reconcile'));
  assert.deepEqual(next, [
    'reconcile_payments:only',
    0,
    new Date(service.clock.now().getTime() + HOUR_MS),
  ]);

  refusal = null;
  await pool.query('truncate graphile_worker._private_jobs');
  await beginRecurringJobs(ctx);
  await doJobs();
  assert.match(await ctx.metrics.render(), attempts('done'));
  const record = await findReconciliation(pool, 'paddle');
  assert.deepEqual(record?.reconciledAt, service.clock.now());
  assert.deepEqual(await countJobs(pool), { open: 2, givenUp: 0 });
});

test('while the log goes on, the next comparison comes at once; behind its end, after an hour', async () => {
  await deliverPaddle(service, paddleTransactionCompleted());
  const occurredAt = new Date(service.clock.now().getTime() - 2 * HOUR_MS);
  unseen = Array.from({ length: 11 }, (_, index) => {
    const body = paddleEvent('address.created', { id: `add_${index}` }, { occurredAt });
    return { eventId: body.event_id, type: body.event_type, occurredAt, body };
  });
  const nextAt = async () => {
    await pool.query('truncate graphile_worker._private_jobs');
    await reconcilePayments(ctx, new AbortController().signal);
    return (await listJobs(pool, ['waiting'], 9)).map((job) => job.nextAt);
  };
  const now = service.clock.now();
  assert.deepEqual(await nextAt(), [now]);
  assert.equal((await findReconciliation(pool, 'paddle'))?.reconciledAt, null);
  assert.deepEqual(await nextAt(), [new Date(now.getTime() + HOUR_MS)]);
  assert.deepEqual((await findReconciliation(pool, 'paddle'))?.reconciledAt, now);
});

test('without a key for Paddle there is nothing to compare by, and no job for it', async () => {
  await beginRecurringJobs({ ...ctx, paddleApi: null });
  const listed = await listJobs(pool, ['waiting'], 9);
  assert.deepEqual(
    listed.map(({ name }) => name),
    ['retry_webhooks'],
  );
});
