import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  DODO_PRODUCT,
  DODO_SUBSCRIPTION,
  dodoDispute,
  dodoPayment,
  dodoRefund,
  dodoSubscription,
} from '../../../../../test/payment-providers/dodo-events.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';
import { throwsOnlyMalformed } from '../any-event.fixture.ts';
import { dodoAdapter } from './adapter.ts';

function read(event: unknown) {
  const headers = { 'webhook-id': 'msg_1' };
  return dodoAdapter.normalize(event, { headers, rawBody: Buffer.alloc(0) });
}

const PAYMENT = {
  kind: 'payment',
  transactionId: 'pay_ann',
  subscriptionId: null,
  origin: 'purchase',
  customerId: 'cus_8VbC6JDZzPEqfB',
  customer: { email: 'ann@example.com', name: 'Ann Example', locale: null },
  occurredAt: TEST_START,
  period: null,
  lines: [],
  total: 1_190,
  currency: 'EUR',
  tax: 190,
  country: 'AT',
  reported: 'succeeded',
};

const fullOf = (isPartial: boolean) => {
  const [fact] = read(dodoRefund({ isPartial })).facts;
  return fact?.kind === 'adjustment' ? fact.full : undefined;
};

test('a one-time payment becomes a purchase of its cart', () => {
  const event = dodoPayment('payment.succeeded', {
    quantity: 2,
    object: { checkout_session_id: 'cks_1' },
  });
  const line = {
    lineId: DODO_PRODUCT,
    priceId: DODO_PRODUCT,
    quantity: 2,
    cycle: null,
    total: null,
  };
  assert.deepEqual(read(event).facts, [{ ...PAYMENT, aliases: ['cks_1'], lines: [line] }]);
});

test('a payment of a subscription pays its lines; one that only changes the card is not one', () => {
  const event = dodoPayment('payment.succeeded', { subscriptionId: DODO_SUBSCRIPTION });
  assert.deepEqual(read(event).facts, [
    { ...PAYMENT, subscriptionId: DODO_SUBSCRIPTION, origin: 'renewal' },
  ]);
  const card = dodoPayment('payment.succeeded', {
    subscriptionId: DODO_SUBSCRIPTION,
    total: 0,
    object: { is_update_payment_method: true },
  });
  assert.equal(read(card).ignoredBecause, 'The payment only changes how a subscription is paid.');
});

test('failed payments and license keys of Dodo Payments are ignored', () => {
  for (const type of ['payment.failed', 'refund.failed', 'license_key.created']) {
    assert.equal(read(dodoPayment(type)).ignoredBecause, `No license depends on ${type}.`);
  }
});

test('a snapshot has the id of its subscription as that of the checkout', () => {
  const [fact] = read(dodoSubscription('subscription.active', { quantity: 4 })).facts;
  assert.ok(fact?.kind === 'subscription');
  assert.deepEqual(
    [fact.transactionId, fact.status, fact.lines],
    [
      DODO_SUBSCRIPTION,
      'active',
      [
        {
          lineId: DODO_SUBSCRIPTION,
          priceId: DODO_PRODUCT,
          quantity: 4,
          cycle: { interval: 'month', frequency: 1 },
          total: 1_000,
        },
      ],
    ],
  );
});

test('a partial refund leaves open whether others complete it', () => {
  assert.deepEqual([fullOf(true), fullOf(false)], [null, true]);
});

test('any JSON is read, or malformed', () => {
  const samples = [
    dodoPayment('payment.succeeded'),
    dodoSubscription('subscription.updated'),
    dodoRefund(),
    dodoDispute('dispute.opened'),
  ];
  throwsOnlyMalformed(
    samples.map((event) => ({ event, field: 'data', object: event.data })),
    read,
  );
});
