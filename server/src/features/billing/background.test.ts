import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { forEachProvider } from '@latchkey/contract';

import { checkPayments } from '../doctor/check-payments.ts';
import { listJobs, scheduleSingletons } from '#server/jobs/queries.ts';

import { startTestService } from '../../../test/harness.ts';
import { paddleAdjustment } from '../../../test/payment-providers/paddle-adjustments.ts';
import {
  paddleEvent,
  paddleTransactionCompleted,
} from '../../../test/payment-providers/paddle-events.ts';
import {
  deliverPaddle,
  createPaddlePurchase,
} from '../../../test/payment-providers/paddle-steps.ts';
import { runDueJobs } from '../../../test/run-due-jobs.ts';
import { DAY_MS, HOUR_MS } from '../../../test/test-clock.ts';
import type { LoggedEvent, PaddleApi } from './providers/paddle/paddle-api.ts';
import { ProviderApiError } from './providers/provider-api.ts';
import { findReconciliation } from './queries/reconciliations.ts';
import { createBillingTasks } from './background.ts';
import { replayEvents, type ReplayOutcome } from './stored-events.ts';

let refusal: ProviderApiError | null = null;
let unseen: LoggedEvent[] = [];
const paddleApi: PaddleApi = {
  findCustomer: async () => null,
  listEvents: async () => {
    if (refusal !== null) throw refusal;
    return unseen.splice(0, 1);
  },
};
const service = await startTestService({ paddleApi });
const { context, clock, pool } = service;

beforeEach(async () => {
  await pool.query('truncate billing_events, jobs, billing_reconciliations');
});

function findTask(name: string, deps = context) {
  const task = createBillingTasks(deps).find((each) => each.name === name);
  assert.ok(task !== undefined);
  return task;
}

const reconcile = () => findTask('payment_reconciliation').run(new AbortController().signal);

/** Schedules the reconciliation as a start does, and runs it. */
async function runScheduled(): Promise<void> {
  await scheduleSingletons(pool, ['payment_reconciliation'], []);
  await runDueJobs(context, [findTask('payment_reconciliation')]);
}

test('logs, counts and stores a reconciliation that fails, runs it again after an hour, and logs its recovery', async () => {
  await deliverPaddle(service, paddleTransactionCompleted());
  refusal = new ProviderApiError('Paddle answers 403');
  await runScheduled();
  const entry = service.log.map((line) => JSON.parse(line)).find(({ level }) => level === 'error');
  assert.deepEqual(
    [entry?.event, entry?.task, entry?.err.message],
    ['payments.reconciliation_failed', 'payment_reconciliation', 'Paddle answers 403'],
  );
  const failures = /^latchkey_task_failures_total\{task="payment_reconciliation"\} 1$/mu;
  assert.match(await context.metrics.render(), failures);
  const failedAt = service.clock.now();
  assert.deepEqual(await findReconciliation(pool, 'paddle'), {
    reconciledAt: null,
    failedAt,
    failure: 'Paddle answers 403',
  });
  const next = (await listJobs(pool, ['waiting'], 9)).find(
    ({ key }) => key === 'payment_reconciliation:singleton',
  );
  assert.deepEqual([next?.attempts, next?.lastError], [0, 'Paddle answers 403']);
  const delayMs = (next?.nextAt.getTime() ?? 0) - Date.now();
  assert.ok(delayMs > HOUR_MS - 60_000 && delayMs <= HOUR_MS, String(delayMs));

  refusal = null;
  await runScheduled();
  const success =
    /^latchkey_task_last_success_timestamp_seconds\{task="payment_reconciliation"\}/mu;
  assert.match(await context.metrics.render(), success);
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
  const listEnabled = (dependencies: typeof context) =>
    createBillingTasks(dependencies)
      .filter(({ isEnabled = true }) => isEnabled)
      .map(({ name }) => name);
  const all = [
    'payment_retry',
    'payment_reconciliation',
    'revenue_roll_up',
    'payment_body_removal',
  ];
  assert.deepEqual(listEnabled(context), all);
  assert.deepEqual(listEnabled({ ...context, paddleApi: null }), [all[0], ...all.slice(2)]);
  const webhookSecrets = forEachProvider(() => []);
  assert.deepEqual(listEnabled({ ...context, webhookSecrets }), all.slice(2));
});

const KEEP_DAYS = context.config.billing.rawKeepDays;

async function removeBodies(databaseTime: Date): Promise<void> {
  const dependencies = { ...context, readDatabaseTime: async () => databaseTime };
  await findTask('payment_body_removal', dependencies).run(new AbortController().signal);
}

async function insertEvent(status: string, ageDays: number): Promise<void> {
  const receivedAt = new Date(clock.now().getTime() - ageDays * DAY_MS);
  await pool.query(
    `insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status, next_attempt_at)
     values ($1, 'paddle', 'x', $2, $2, '{}', '{}', $3, case $3 when 'deferred' then $2::timestamptz end)`,
    [`${status} ${ageDays}`, receivedAt, status],
  );
}

async function listWithBody(): Promise<string[]> {
  const { rows } = await pool.query(
    'select event_id from billing_events where raw is not null order by event_id',
  );
  return rows.map(({ event_id: id }) => id);
}

test('removes old bodies that could not be read', async () => {
  const receivedAt = new Date(clock.now().getTime() - (KEEP_DAYS + 3) * DAY_MS);
  await pool.query(
    `insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status)
     values ('unreadable:1', 'paddle', 'unreadable', $1, $1, 'a=b', '{}', 'failed')`,
    [receivedAt],
  );
  await removeBodies(clock.now());
  assert.deepEqual(await listWithBody(), []);
  await pool.query('delete from billing_events');
});

test('removes the bodies of old payment events, except those that were not applied', async () => {
  const [young, old] = [KEEP_DAYS - 1, KEEP_DAYS + 3];
  for (const status of ['processed', 'ignored', 'deferred', 'failed']) {
    for (const age of [young, old]) await insertEvent(status, age);
  }
  const [, finding] = await checkPayments(pool, { paddleApiKey: null }, clock.now());
  assert.equal(finding?.check, 'payment events');
  const late = await checkPayments(pool, { paddleApiKey: null }, clock.now());
  assert.deepEqual(late.at(-1)?.facts, { bodies: 2, keep_days: KEEP_DAYS });

  await removeBodies(clock.now());
  assert.deepEqual(await listWithBody(), [
    `deferred ${young}`,
    `deferred ${old}`,
    `failed ${young}`,
    `failed ${old}`,
    `ignored ${young}`,
    `processed ${young}`,
  ]);
});

test('removes no body if only the clock of the service is ahead', async () => {
  await insertEvent('processed', KEEP_DAYS + 3);
  const behind = new Date(clock.now().getTime() - 10 * DAY_MS);
  await removeBodies(behind);
  assert.equal((await listWithBody()).length, 1);
});

test('later events change a license after bodies were removed, which a replay reports', async () => {
  const purchase = createPaddlePurchase();
  const paid = paddleTransactionCompleted(purchase.once);
  await deliverPaddle(service, paid);
  clock.advance((KEEP_DAYS + 1) * DAY_MS);
  await removeBodies(clock.now());
  assert.deepEqual(await listWithBody(), []);

  const outcomes: ReplayOutcome[] = [];
  const filter = { eventId: paid.event_id, status: null, provider: null, since: null };
  const order = { filter, actor: 'cli:test', reason: 'a test' };
  await replayEvents(context, order, (outcome) => outcomes.push(outcome));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['removed'],
  );
  const { rows: kept } = await pool.query('select status, attempts from billing_events');
  assert.deepEqual(kept, [{ status: 'processed', attempts: 1 }]);

  const { transactionId } = purchase;
  await deliverPaddle(service, paddleAdjustment('created', { transactionId }));
  const { rows } = await pool.query(
    `select refunded_at is not null as refunded from licenses join billing_licenses on license_id = id
     where transaction_id = $1`,
    [transactionId],
  );
  assert.deepEqual(rows, [{ refunded: true }]);
});
