/** Purchases at Polar become the same licenses in any order of events, with duplicates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  POLAR_CHECKOUT,
  POLAR_ORDER,
  POLAR_SUBSCRIPTION,
  polarOrder,
  polarSubscription,
  type PolarTestEvent,
} from '../../../../../test/payment-providers/polar-events.ts';
import type { BillingEvent } from '../../facts.ts';
import { APRIL, computeInAnyOrder, computeOne, later, MAY } from '../any-order.fixture.ts';
import { polarAdapter } from './adapter.ts';

function read(events: readonly PolarTestEvent[]): BillingEvent[] {
  return events.map((event, index) =>
    polarAdapter.normalize(event, {
      headers: { 'webhook-id': `msg_${index}` },
      rawBody: Buffer.alloc(0),
    }),
  );
}

const SUBSCRIBED = { subscriptionId: POLAR_SUBSCRIPTION };
const NEXT_ORDER = 'd1e2f3a4-0000-4000-8000-000000000009';

const begun = [
  polarSubscription('subscription.created', { status: 'incomplete' }),
  polarOrder('order.paid', SUBSCRIBED),
  polarSubscription('subscription.active'),
  polarSubscription('subscription.updated'),
];
const renewed = [
  polarSubscription('subscription.cycled', { at: APRIL, startsAt: APRIL, endsAt: MAY }),
  polarOrder('order.paid', {
    ...SUBSCRIBED,
    orderId: NEXT_ORDER,
    reason: 'subscription_cycle',
    at: APRIL,
  }),
];

test('a one-time order creates a perpetual license under its checkout, which its refund ends', () => {
  const license = computeOne(read([polarOrder('order.paid')]));
  assert.deepEqual(
    [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
    [POLAR_ORDER, POLAR_CHECKOUT, 'once:0', null],
  );
  const part = polarOrder('order.refunded', { at: later(3), refunded: 500 });
  assert.equal(computeOne(read([polarOrder('order.paid'), part])).refundedAt, null);
  const whole = polarOrder('order.refunded', { at: later(4), refunded: 1_000, status: 'refunded' });
  assert.deepEqual(computeOne(read([polarOrder('order.paid'), part, whole])).refundedAt, later(4));
});

test('a subscription creates one license, which a renewal extends', () => {
  const license = computeOne(read(begun));
  assert.deepEqual(
    [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
    [POLAR_ORDER, POLAR_CHECKOUT, 'recurring:0', APRIL],
  );
  assert.deepEqual(computeOne(read([...begun, ...renewed])).expiresAt, MAY);
});

test('the refund of a renewal takes away its month, and the license ends when it is revoked', () => {
  const refund = polarOrder('order.refunded', {
    ...SUBSCRIBED,
    orderId: NEXT_ORDER,
    reason: 'subscription_cycle',
    at: later(40),
    refunded: 1_000,
    status: 'refunded',
  });
  const revoked = polarSubscription('subscription.revoked', {
    at: later(40),
    status: 'canceled',
    object: { ended_at: later(40).toISOString() },
  });
  const license = computeOne(read([...begun, ...renewed, refund, revoked]));
  assert.deepEqual([license.refundedAt, license.canceledAt], [later(40), later(40)]);
});

test('a cancellation is scheduled, and ends the subscription when it is revoked', () => {
  const announced = polarSubscription('subscription.canceled', {
    at: later(5),
    object: { cancel_at_period_end: true, ends_at: APRIL.toISOString() },
  });
  assert.deepEqual(computeOne(read([...begun, announced])).cancelScheduledFor, APRIL);
  const revoked = polarSubscription('subscription.revoked', {
    at: APRIL,
    status: 'canceled',
    object: { ended_at: APRIL.toISOString() },
  });
  const license = computeOne(read([...begun, announced, revoked]));
  assert.deepEqual([license.canceledAt, license.expiresAt], [APRIL, APRIL]);
});

test('another product keeps the license, and seats are its quantity', () => {
  const seats = polarSubscription('subscription.updated', { at: later(5), seats: 5 });
  const license = computeOne(read([...begun, seats]));
  assert.deepEqual([license.quantity, license.lineKey], [5, 'recurring:0']);
  const other = { at: later(6), productId: 'b1e2f3a4-0000-4000-8000-00000000000a' };
  const changed = polarSubscription('subscription.updated', other);
  assert.equal(computeOne(read([...begun, changed])).lineKey, 'recurring:0');
});

test('a subscription without a payment that is not active has no license', () => {
  const [created] = begun;
  assert.ok(created);
  assert.deepEqual(computeInAnyOrder(read([created])), []);
});
