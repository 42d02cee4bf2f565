import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { listJobs, scheduleSingletons } from '#server/jobs/queries.ts';

import { startTestService } from '../../../test/harness.ts';
import {
  paddleEvent,
  paddleTransactionCompleted,
} from '../../../test/payment-providers/paddle-events.ts';
import { deliverPaddle } from '../../../test/payment-providers/paddle-steps.ts';
import { runDueJobs } from '../../../test/run-due-jobs.ts';
import { HOUR_MS } from '../../../test/test-clock.ts';
import { PaddleApiError, type LoggedEvent, type PaddleApi } from './providers/paddle/paddle-api.ts';
import { findReconciliation } from './queries/reconciliations.ts';
import { createBillingTasks } from './background.ts';

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
const { context, pool } = service;

beforeEach(async () => {
  await pool.query('truncate jobs, billing_reconciliations');
});

function findTask(name: string, deps = context) {
  const task = createBillingTasks(deps).find((each) => each.name === name);
  assert.ok(task !== undefined);
  return task;
}

const reconcile = () => findTask('reconcile_payments').run(new AbortController().signal);

/** Schedules the reconciliation as a start does, and runs it. */
async function runScheduled(): Promise<void> {
  await scheduleSingletons(pool, ['reconcile_payments'], []);
  await runDueJobs(context, [findTask('reconcile_payments')]);
}

const attempts = (outcome: string) =>
  new RegExp(`job_attempts_total\\{job="reconcile_payments",outcome="${outcome}"\\} 1\n`, 'u');

test('logs, counts and stores a reconciliation that fails, runs it again after an hour, and logs its recovery', async () => {
  await deliverPaddle(service, paddleTransactionCompleted());
  refusal = new PaddleApiError('Paddle answers 403');
  await runScheduled();
  const entry = service.log.map((line) => JSON.parse(line)).find(({ level }) => level === 'error');
  assert.deepEqual(
    [entry?.event, entry?.task, entry?.err.message],
    ['payments.reconciliation_failed', 'reconcile_payments', 'Paddle answers 403'],
  );
  assert.match(await context.metrics.render(), attempts('failed'));
  const failedAt = service.clock.now();
  assert.deepEqual(await findReconciliation(pool, 'paddle'), {
    reconciledAt: null,
    failedAt,
    failure: 'Paddle answers 403',
  });
  const next = (await listJobs(pool, ['waiting'], 9)).find(
    ({ key }) => key === 'reconcile_payments:singleton',
  );
  assert.deepEqual([next?.attempts, next?.lastError], [0, 'Paddle answers 403']);
  const delayMs = (next?.nextAt.getTime() ?? 0) - Date.now();
  assert.ok(delayMs > HOUR_MS - 60_000 && delayMs <= HOUR_MS, String(delayMs));

  refusal = null;
  await runScheduled();
  assert.match(await context.metrics.render(), attempts('done'));
  const record = await findReconciliation(pool, 'paddle');
  assert.deepEqual(record?.reconciledAt, service.clock.now());
});

test('continues a long log at once, and waits for an hour behind its end', async () => {
  await deliverPaddle(service, paddleTransactionCompleted());
  const occurredAt = new Date(service.clock.now().getTime() - 2 * HOUR_MS);
  unseen = Array.from({ length: 11 }, (_, index) => {
    const body = paddleEvent('address.created', { id: `add_${index}` }, { occurredAt });
    return { eventId: body.event_id, type: body.event_type, occurredAt, body };
  });
  assert.equal(await reconcile(), 0);
  assert.equal((await findReconciliation(pool, 'paddle'))?.reconciledAt, null);
  assert.equal(await reconcile(), HOUR_MS);
  assert.deepEqual((await findReconciliation(pool, 'paddle'))?.reconciledAt, service.clock.now());
});

test('enables only what is configured', () => {
  const listEnabled = (deps: typeof context) =>
    createBillingTasks(deps)
      .filter(({ isEnabled = true }) => isEnabled)
      .map(({ name }) => name);
  const all = ['retry_webhooks', 'reconcile_payments', 'remove_old_event_bodies'];
  assert.deepEqual(listEnabled(context), all);
  assert.deepEqual(listEnabled({ ...context, paddleApi: null }), [all[0], all[2]]);
  const webhookSecrets = { paddle: [], stripe: [], lemonsqueezy: [], standard: [] };
  assert.deepEqual(listEnabled({ ...context, webhookSecrets }), [all[2]]);
});
