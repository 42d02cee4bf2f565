import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../../../test/harness.ts';
import {
  PADDLE_MONTH,
  paddleAdjustment,
  paddleCustomer,
  paddleDelivery,
  paddleId,
  paddlePeriod,
  paddleSubscription,
  paddleTransactionCompleted,
} from '../../../test/paddle-events.ts';
import { DAY_MS, TEST_START } from '../../../test/test-clock.ts';

const PERSONAL = 'pri_01aaaaaaaaaaaaaaaaaaaaaaaa';
const service = await startTestService();
const { ctx, pool } = service;
const [secret = ''] = TEST_WEBHOOK_SECRETS.billing;
await addEndpoint(
  ctx,
  { url: 'https://all.example.com/', eventTypes: [], description: null },
  { actor: 'test', reason: null },
);

async function deliver(event: unknown): Promise<void> {
  const { body, headers } = paddleDelivery(event, { secret, at: service.clock.now() });
  const { status } = await service.post('/api/v1/webhooks/billing', body, headers);
  assert.equal(status, 200);
}

/** What has followed since this was asked last: the outgoing messages' types, and the jobs' keys. */
async function takeFollowed(): Promise<{ messages: string[]; jobs: string[] }> {
  const { rows: messages } = await pool.query('select type from webhook_messages order by type');
  const { rows: jobs } = await pool.query('select key from graphile_worker.jobs order by key');
  await pool.query('truncate webhook_messages, webhook_deliveries, graphile_worker._private_jobs');
  return { messages: messages.map(({ type }) => type), jobs: jobs.map(({ key }) => key) };
}

function makeIds() {
  const ids = {
    transactionId: paddleId('txn'),
    subscriptionId: paddleId('sub'),
    customerId: paddleId('ctm'),
  };
  const lines = [{ priceId: PERSONAL, cycle: PADDLE_MONTH }];
  return { ...ids, lines, period: paddlePeriod(TEST_START, 31) };
}

/** A subscription that was bought; of its buyer an event has told. */
async function subscribe() {
  const of = makeIds();
  await deliver(paddleCustomer('created', { customerId: of.customerId, email: 'ann@example.org' }));
  await deliver(paddleTransactionCompleted(of));
  return of;
}

beforeEach(async () => {
  await takeFollowed();
});

test('a purchase is told once, and its keys are sent', async () => {
  const { transactionId } = await subscribe();
  assert.deepEqual(await takeFollowed(), {
    messages: ['license.created'],
    jobs: [`send_key_email:paddle:${transactionId}`],
  });
});

test('a purchase of which no event told the buyer has it looked up besides', async () => {
  const of = makeIds();
  await deliver(paddleTransactionCompleted(of));
  assert.deepEqual(await takeFollowed(), {
    messages: ['license.created'],
    jobs: [`look_up_customer:paddle:${of.customerId}`, `send_key_email:paddle:${of.transactionId}`],
  });
});

test('what says nothing new of a purchase, or says it again, is followed by nothing', async () => {
  const of = await subscribe();
  await takeFollowed();
  const created = paddleSubscription('created', of);
  await deliver(created);
  await deliver(created);
  await deliver(paddleTransactionCompleted(of));
  assert.deepEqual(await takeFollowed(), { messages: [], jobs: [] });
});

test('the address of a purchase that had none has its keys sent', async () => {
  const of = makeIds();
  await deliver(paddleTransactionCompleted(of));
  await takeFollowed();
  await deliver(paddleCustomer('created', { customerId: of.customerId, email: 'ann@example.org' }));
  assert.deepEqual(await takeFollowed(), {
    messages: [],
    jobs: [`send_key_email:paddle:${of.transactionId}`],
  });
});

test('a renewal is told once, and sends no key', async () => {
  const of = await subscribe();
  await takeFollowed();
  const later = new Date(TEST_START.getTime() + 31 * DAY_MS);
  const renewal = { ...of, transactionId: paddleId('txn'), origin: 'subscription_recurring' };
  await deliver(
    paddleTransactionCompleted({ ...renewal, occurredAt: later, period: paddlePeriod(later, 31) }),
  );
  assert.deepEqual(await takeFollowed(), { messages: ['license.renewed'], jobs: [] });
});

test('a refund is told once, and sends no key', async () => {
  const { transactionId, subscriptionId, customerId } = await subscribe();
  await takeFollowed();
  await deliver(paddleAdjustment('created', { transactionId, subscriptionId, customerId }));
  assert.deepEqual(await takeFollowed(), { messages: ['license.status_changed'], jobs: [] });
});
