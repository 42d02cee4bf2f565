import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { checkPayments } from '#server/cli/doctor/check-payments.ts';

import { startTestService } from '../../../test/harness.ts';
import { paddleAdjustment } from '../../../test/payment-providers/paddle-adjustments.ts';
import { paddleTransactionCompleted } from '../../../test/payment-providers/paddle-events.ts';
import { deliverPaddle, makePaddlePurchase } from '../../../test/payment-providers/paddle-steps.ts';
import { DAY_MS } from '../../../test/test-clock.ts';
import { removeOldEventBodies } from './remove-old-bodies.ts';
import { replayEvents, type ReplayOutcome } from './replay-events.ts';

const service = await startTestService();
const { context, clock, pool } = service;
const KEEP_DAYS = context.config.billing.rawKeepDays;
const running = new AbortController().signal;
/** A database with the service's clock. */
const agreeing = { ...context, readDatabaseTime: async () => clock.now() };

beforeEach(async () => {
  await pool.query('truncate billing_events, jobs');
});

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

test('removes the bodies of old payment events, except those that were not applied', async () => {
  const [young, old] = [KEEP_DAYS - 1, KEEP_DAYS + 3];
  for (const status of ['processed', 'ignored', 'deferred', 'failed']) {
    for (const age of [young, old]) await insertEvent(status, age);
  }
  const [, finding] = await checkPayments(pool, { paddleApiKey: null }, clock.now());
  assert.equal(finding?.check, 'payment events');
  const late = await checkPayments(pool, { paddleApiKey: null }, clock.now());
  assert.deepEqual(late.at(-1)?.facts, { bodies: 2, keep_days: KEEP_DAYS });

  await removeOldEventBodies(agreeing, running);
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
  await removeOldEventBodies({ ...context, readDatabaseTime: async () => behind }, running);
  assert.equal((await listWithBody()).length, 1);
});

test('later events change a license after bodies were removed, which a replay reports', async () => {
  const purchase = makePaddlePurchase();
  const paid = paddleTransactionCompleted(purchase.once);
  await deliverPaddle(service, paid);
  clock.advance((KEEP_DAYS + 1) * DAY_MS);
  await removeOldEventBodies(agreeing, running);
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
