import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  POLAR_CHECKOUT,
  POLAR_ORDER,
  POLAR_PRODUCT,
  POLAR_SUBSCRIPTION,
  polarCustomer,
  polarOrder,
  polarSubscription,
} from '../../../../../test/payment-providers/polar-events.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';
import { APRIL, later } from '../any-order.fixture.ts';
import { throwsOnlyMalformed } from '../any-event.fixture.ts';
import { polarAdapter } from './adapter.ts';

function read(event: unknown) {
  const headers = { 'webhook-id': 'msg_1' };
  return polarAdapter.normalize(event, { headers, rawBody: Buffer.alloc(0) });
}

const reasonOf = (event: unknown) => read(event).ignoredBecause;

const ANN = { email: 'ann@example.com', name: 'Ann Example', locale: null };
const CUSTOMER_ID = '91e2f3a4-0000-4000-8000-000000000005';

const originOf = (reason: string) => {
  const [fact] = read(
    polarOrder('order.paid', { subscriptionId: POLAR_SUBSCRIPTION, reason }),
  ).facts;
  return fact?.kind === 'payment' ? fact.origin : null;
};

test('an order becomes a payment with its tax, country and seats', () => {
  assert.deepEqual(read(polarOrder('order.paid', { seats: 3 })), {
    provider: 'polar',
    eventId: 'msg_1',
    type: 'order.paid',
    occurredAt: TEST_START,
    ignoredBecause: null,
    facts: [
      {
        kind: 'payment',
        transactionId: POLAR_ORDER,
        checkoutId: POLAR_CHECKOUT,
        subscriptionId: null,
        origin: 'purchase',
        customerId: CUSTOMER_ID,
        customer: ANN,
        occurredAt: TEST_START,
        period: null,
        lines: [
          { lineId: POLAR_PRODUCT, priceId: POLAR_PRODUCT, quantity: 3, cycle: null, total: 1_190 },
        ],
        total: 1_190,
        currency: 'EUR',
        tax: 190,
        country: 'AT',
        reported: 'paid',
      },
    ],
  });
});

test('the reason of an order decides what it is', () => {
  assert.deepEqual(
    [
      'purchase',
      'subscription_create',
      'subscription_cycle',
      'subscription_update',
      'something_new',
    ].map(originOf),
    ['purchase', 'purchase', 'renewal', 'change', 'other'],
  );
});

test('an unpaid order and the events of refunds are ignored', () => {
  assert.equal(
    reasonOf(polarOrder('order.updated', { status: 'pending' })),
    'The order is not paid.',
  );
  const refund = { ...polarOrder('order.paid'), type: 'refund.created' };
  assert.equal(reasonOf(refund), 'The event order.refunded reports the refund.');
  const benefit = { ...polarOrder('order.paid'), type: 'benefit_grant.created' };
  assert.equal(reasonOf(benefit), 'No license depends on benefit_grant.created.');
  const unknown = polarSubscription('subscription.updated', { status: 'new' });
  assert.equal(reasonOf(unknown), 'The subscription has an unknown status.');
});

test('a subscription becomes a snapshot of its checkout', () => {
  const event = polarSubscription('subscription.canceled', {
    object: { cancel_at_period_end: true, ends_at: APRIL.toISOString() },
  });
  const [fact] = read(event).facts;
  assert.ok(fact?.kind === 'subscription');
  assert.deepEqual(
    [fact.transactionId, fact.status, fact.period, fact.scheduledChange, fact.lines],
    [
      POLAR_CHECKOUT,
      'active',
      { startsAt: TEST_START, endsAt: APRIL },
      { action: 'cancel', effectiveAt: APRIL },
      [
        {
          lineId: POLAR_SUBSCRIPTION,
          priceId: POLAR_PRODUCT,
          quantity: 1,
          cycle: { interval: 'month', frequency: 1 },
          total: 1_000,
        },
      ],
    ],
  );
  const unpaid = read(polarSubscription('subscription.updated', { status: 'unpaid' })).facts[0];
  assert.ok(unpaid?.kind === 'subscription');
  assert.deepEqual([unpaid.status, unpaid.pausedAt, unpaid.period], ['paused', TEST_START, null]);
});

test('a customer has the time of the event', () => {
  const event = polarCustomer('customer.updated', 'eve@example.com', { at: later(1) });
  assert.deepEqual(read(event).facts, [
    {
      kind: 'customer',
      customerId: CUSTOMER_ID,
      occurredAt: later(1),
      customer: { ...ANN, email: 'eve@example.com' },
    },
  ]);
});

test('any JSON is read, or malformed', () => {
  const samples = [
    polarOrder('order.paid', { subscriptionId: POLAR_SUBSCRIPTION, refunded: 1 }),
    polarSubscription('subscription.updated'),
    polarCustomer('customer.created', 'ann@example.com'),
  ];
  throwsOnlyMalformed(
    samples.map((event) => ({ event, field: 'data', object: event.data })),
    read,
  );
});
