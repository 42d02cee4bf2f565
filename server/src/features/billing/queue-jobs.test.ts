import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';

import { startTestService } from '../../../test/harness.ts';
import {
  paddleAdjustment,
  paddleCustomer,
  paddleId,
  paddlePeriod,
  paddleSubscription,
  paddleTransactionCompleted,
} from '../../../test/payment-providers/paddle-events.ts';
import {
  deliverPaddle,
  createPaddlePurchase,
} from '../../../test/payment-providers/paddle-steps.ts';
import { takeQueuedWork } from '../../../test/take-queued-work.ts';
import { DAY_MS, TEST_START } from '../../../test/test-clock.ts';

const service = await startTestService();
const { context, pool } = service;
await addEndpoint(
  context,
  { url: 'https://all.example.com/', eventTypes: [], description: null },
  { actor: 'test', reason: null },
);

function makePurchase() {
  return { ...createPaddlePurchase().monthly, period: paddlePeriod(TEST_START, 31) };
}

/** A purchased subscription of a known customer. */
async function subscribe() {
  const of = makePurchase();
  await deliverPaddle(
    service,
    paddleCustomer('created', { customerId: of.customerId, email: 'ann@example.org' }),
  );
  await deliverPaddle(service, paddleTransactionCompleted(of));
  return of;
}

beforeEach(async () => {
  await takeQueuedWork(pool);
});

test('a purchase queues one message and one e-mail', async () => {
  const { transactionId } = await subscribe();
  assert.deepEqual(await takeQueuedWork(pool), {
    messages: ['license.created'],
    jobs: [`send_key_email:paddle:${transactionId}`],
  });
});

test('a purchase by an unknown customer queues a look-up too', async () => {
  const of = makePurchase();
  await deliverPaddle(service, paddleTransactionCompleted(of));
  assert.deepEqual(await takeQueuedWork(pool), {
    messages: ['license.created'],
    jobs: [`look_up_customer:paddle:${of.customerId}`, `send_key_email:paddle:${of.transactionId}`],
  });
});

test('an event without a change, or a duplicate, queues nothing', async () => {
  const of = await subscribe();
  await takeQueuedWork(pool);
  const created = paddleSubscription('created', of);
  await deliverPaddle(service, created);
  await deliverPaddle(service, created);
  await deliverPaddle(service, paddleTransactionCompleted(of));
  assert.deepEqual(await takeQueuedWork(pool), { messages: [], jobs: [] });
});

test('a new address queues the e-mail of a purchase without one', async () => {
  const of = makePurchase();
  await deliverPaddle(service, paddleTransactionCompleted(of));
  await takeQueuedWork(pool);
  await deliverPaddle(
    service,
    paddleCustomer('created', { customerId: of.customerId, email: 'ann@example.org' }),
  );
  assert.deepEqual(await takeQueuedWork(pool), {
    messages: [],
    jobs: [`send_key_email:paddle:${of.transactionId}`],
  });
});

test('a renewal queues one message and no e-mail', async () => {
  const of = await subscribe();
  await takeQueuedWork(pool);
  const later = new Date(TEST_START.getTime() + 31 * DAY_MS);
  const renewal = { ...of, transactionId: paddleId('txn'), origin: 'subscription_recurring' };
  service.clock.set(new Date(later.getTime() - DAY_MS));
  await deliverPaddle(
    service,
    paddleTransactionCompleted({ ...renewal, occurredAt: later, period: paddlePeriod(later, 31) }),
  );
  service.clock.set(TEST_START);
  assert.deepEqual(await takeQueuedWork(pool), { messages: ['license.renewed'], jobs: [] });
});

test('a refund queues one message and no e-mail', async () => {
  const { transactionId, subscriptionId, customerId } = await subscribe();
  await takeQueuedWork(pool);
  await deliverPaddle(
    service,
    paddleAdjustment('created', { transactionId, subscriptionId, customerId }),
  );
  assert.deepEqual(await takeQueuedWork(pool), { messages: ['license.status_changed'], jobs: [] });
});
