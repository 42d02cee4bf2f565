import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  CREEM_CHECKOUT,
  CREEM_PRODUCT,
  CREEM_SUBSCRIPTION,
  creemCheckout,
  creemDispute,
  creemRefund,
  creemSubscription,
} from '../../../../../test/payment-providers/creem-events.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';
import { APRIL } from '../any-order.fixture.ts';
import { throwsOnlyMalformed } from '../any-event.fixture.ts';
import { creemAdapter } from './adapter.ts';

function read(event: unknown) {
  return creemAdapter.normalize(event, { headers: {}, rawBody: Buffer.alloc(0) });
}

const ANN = { email: 'ann@example.com', name: 'Ann Example', locale: null };
const CUSTOMER_ID = 'cust_1OcIK1GEuVvXZwD19tjq2z';

const sourceOf = (mode: string) => read(creemCheckout({ mode })).provider;

const paymentOf = (isRecurring: boolean) => {
  const [fact] = read(creemRefund({ isRecurring, transactionId: 'tran_7' })).facts;
  return fact?.kind === 'adjustment' ? [fact.transactionId, fact.full] : null;
};

test('a one-time checkout becomes a payment under its order, and the customer', () => {
  assert.deepEqual(read(creemCheckout({ units: 2 })).facts, [
    {
      kind: 'payment',
      transactionId: 'ord_4aDwWXjMLpes4Kj4XqNnUA',
      checkoutId: CREEM_CHECKOUT,
      subscriptionId: null,
      origin: 'purchase',
      customerId: CUSTOMER_ID,
      customer: ANN,
      occurredAt: TEST_START,
      period: null,
      lines: [
        { lineId: CREEM_PRODUCT, priceId: CREEM_PRODUCT, quantity: 2, cycle: null, total: null },
      ],
      total: 1_190,
      currency: 'EUR',
      tax: 190,
      country: 'AT',
      reported: 'paid',
    },
    { kind: 'customer', customerId: CUSTOMER_ID, occurredAt: TEST_START, customer: ANN },
  ]);
});

test('a paid period becomes a payment of its transaction, in any form of the references', () => {
  const line = {
    lineId: CREEM_SUBSCRIPTION,
    priceId: CREEM_PRODUCT,
    quantity: 1,
    cycle: { interval: 'month', frequency: 1 },
    total: null,
  };
  const payment = read(creemSubscription('subscription.paid')).facts.at(-1);
  assert.ok(payment?.kind === 'payment');
  assert.deepEqual(
    [payment.transactionId, payment.origin, payment.period, payment.lines, payment.total],
    ['tran_1', 'renewal', { startsAt: TEST_START, endsAt: APRIL }, [line], 1_190],
  );
  const object = { customer: CUSTOMER_ID, product: CREEM_PRODUCT, last_transaction: 'tran_1' };
  const references = read(creemSubscription('subscription.paid', { object })).facts;
  const found = references.at(-1);
  assert.ok(found?.kind === 'payment');
  assert.deepEqual(
    [found.transactionId, found.customerId, found.lines],
    ['tran_1', CUSTOMER_ID, [{ ...line, cycle: null }]],
  );
});

test('the mode of the object marks a test event', () => {
  assert.deepEqual(['prod', 'test', 'sandbox', 'local'].map(sourceOf), [
    'creem',
    'creem:test',
    'creem:test',
    'creem:test',
  ]);
});

test('times are in milliseconds or texts', () => {
  const event = creemCheckout();
  const text = { ...event, created_at: TEST_START.toISOString() };
  assert.deepEqual([read(event).occurredAt, read(text).occurredAt], [TEST_START, TEST_START]);
});

test('an unpaid order and an unsuccessful refund are ignored', () => {
  const unpaid = creemCheckout({ object: { order: { id: 'ord_1', status: 'pending' } } });
  assert.equal(read(unpaid).ignoredBecause, 'The order is not paid.');
  const pending = creemRefund({ object: { status: 'pending' } });
  assert.equal(read(pending).ignoredBecause, 'The refund has not succeeded.');
});

test('a refund belongs to the order, or to the transaction of a subscription', () => {
  assert.deepEqual(paymentOf(false), ['ord_4aDwWXjMLpes4Kj4XqNnUA', true]);
  assert.deepEqual(paymentOf(true), ['tran_7', true]);
});

test('an event without object, whose data are elsewhere, is malformed', () => {
  const { object, ...event } = creemCheckout();
  assert.throws(() => read({ ...event, data: object }), /Missing or invalid: object\./);
});

test('any JSON is read, or malformed', () => {
  const samples = [
    creemCheckout({ isRecurring: true }),
    creemCheckout(),
    creemSubscription('subscription.paid'),
    creemRefund(),
    creemDispute(),
  ];
  throwsOnlyMalformed(
    samples.map((event) => ({ event, field: 'object', object: event.object })),
    read,
  );
});
