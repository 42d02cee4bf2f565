import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestService } from '../harness.ts';
import {
  paddleAdjustment,
  paddleCustomer,
  paddleId,
  paddleSubscription,
  paddleTransactionCompleted,
} from '../payment-providers/paddle-events.ts';
import { deliverPaddle, createPaddlePurchase } from '../payment-providers/paddle-steps.ts';
import { TEST_PRICES } from '../test-catalog.ts';
import { DAY_MS, fromStart, HOUR_MS, TEST_START } from '../test-clock.ts';
import { readBody } from './bodies.ts';

const service = await startTestService();

async function deliverAll(...events: readonly unknown[]): Promise<void> {
  for (const event of events) await deliverPaddle(service, event);
}

async function check(transactionId: string): Promise<Readonly<Record<string, unknown>>> {
  return readBody((await service.get(`/api/v1/licenses/check/${transactionId}`)).body);
}

test('several lines: one license each, in the order of the lines', async () => {
  const { transactionId, once } = createPaddlePurchase();
  const lines = [{ priceId: TEST_PRICES.sellers }, { priceId: TEST_PRICES.personal, quantity: 3 }];
  await deliverPaddle(service, paddleTransactionCompleted({ ...once, lines }));
  const { licenses } = await check(transactionId);
  assert.ok(Array.isArray(licenses));
  assert.deepEqual(
    licenses.map((license) => readBody(license)['product_type']),
    ['sellers', 'personal'],
  );
  const { rows } = await service.pool.query<{ max_activations: number }>(
    `select max_activations from licenses l join license_transactions t on t.license_id = l.id
     where transaction_id = $1 order by position`,
    [transactionId],
  );
  assert.deepEqual(
    rows.map((row) => row.max_activations),
    [10, 6],
  );
});

test('finds the buyer by the customer, in any order of events', async () => {
  for (const customerFirst of [true, false]) {
    const { transactionId, customerId, once } = createPaddlePurchase();
    const events = [
      paddleCustomer('created', { customerId, email: 'ann@example.com', name: 'Ann' }),
      paddleTransactionCompleted(once),
    ];
    await deliverAll(...(customerFirst ? events : events.toReversed()));
    const { rows } = await service.pool.query(
      `select customer_email, customer_name from licenses l
       join license_transactions t on t.license_id = l.id where transaction_id = $1`,
      [transactionId],
    );
    assert.deepEqual(rows, [{ customer_email: 'ann@example.com', customer_name: 'Ann' }]);
  }
});

test('a canceled or paused subscription is never perpetual', async () => {
  for (const [type, status] of [
    ['canceled', 'canceled'],
    ['paused', 'paused'],
  ] as const) {
    const { transactionId, monthly } = createPaddlePurchase();
    await deliverAll(
      paddleTransactionCompleted({ ...monthly, subscriptionId: null }),
      paddleSubscription('created', monthly),
    );
    const paid = await check(transactionId);
    assert.deepEqual([paid['status'], paid['expires_at']], ['active', fromStart(31 * DAY_MS)]);
    const occurredAt = new Date(TEST_START.getTime() - HOUR_MS / 2);
    // It is older than the latest snapshot, so it does not count; an hour later it does.
    await deliverPaddle(service, paddleSubscription(type, { ...monthly, occurredAt }));
    assert.equal((await check(transactionId))['status'], 'active');
    const later = new Date(TEST_START.getTime() + HOUR_MS);
    await deliverPaddle(service, paddleSubscription(type, { ...monthly, occurredAt: later }));
    service.clock.set(new Date(TEST_START.getTime() + 2 * HOUR_MS));
    const ended = await check(transactionId);
    assert.deepEqual([ended['status'], ended['expires_at']], [status, fromStart(HOUR_MS)]);
    service.clock.set(TEST_START);
  }
});

test('a full refund ends the license and hides its key, even if it arrives before the purchase', async () => {
  for (const refundFirst of [true, false]) {
    const { transactionId, once } = createPaddlePurchase();
    const events = [
      paddleTransactionCompleted(once),
      paddleAdjustment('created', { transactionId, adjustmentId: paddleId('adj') }),
    ];
    await deliverAll(...(refundFirst ? events.toReversed() : events));
    const { status, license_key: key } = await check(transactionId);
    assert.deepEqual([status, key], ['refunded', null]);
  }
});

test('a chargeback suspends and its reversal reinstates, but not a manual suspension', async () => {
  const { transactionId, once } = createPaddlePurchase();
  const adjust = (action: string) =>
    paddleAdjustment('created', { transactionId, action, adjustmentId: paddleId('adj') });
  await deliverAll(paddleTransactionCompleted(once), adjust('chargeback'));
  assert.equal((await check(transactionId))['status'], 'suspended');
  await deliverPaddle(service, adjust('chargeback_reverse'));
  assert.equal((await check(transactionId))['status'], 'active');
  await service.pool.query(
    `update licenses set suspended_at = now() where id =
       (select license_id from license_transactions where transaction_id = $1)`,
    [transactionId],
  );
  await deliverAll(adjust('chargeback'), adjust('chargeback_reverse'));
  assert.equal((await check(transactionId))['status'], 'suspended');
});

test('the key is shown for 24 hours', async () => {
  const { transactionId, once } = createPaddlePurchase();
  await deliverPaddle(service, paddleTransactionCompleted(once));
  service.clock.set(new Date(TEST_START.getTime() + 24 * HOUR_MS));
  assert.equal((await check(transactionId))['license_key'], null);
  service.clock.set(TEST_START);
});
