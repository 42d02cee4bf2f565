/** Purchases at Dodo Payments become the same licenses in any order of events, with duplicates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  DODO_SUBSCRIPTION,
  dodoDispute,
  dodoPayment,
  dodoRefund,
  dodoSubscription,
  type DodoTestEvent,
} from '../../../../../test/payment-providers/dodo-events.ts';
import type { BillingEvent } from '../../facts.ts';
import { APRIL, computeInAnyOrder, computeOne, later, MAY } from '../any-order.fixture.ts';
import { dodoAdapter } from './adapter.ts';

function read(events: readonly DodoTestEvent[]): BillingEvent[] {
  return events.map((event, index) =>
    dodoAdapter.normalize(event, {
      headers: { 'webhook-id': `msg_${index}` },
      rawBody: Buffer.alloc(0),
    }),
  );
}

const SUBSCRIBED = { subscriptionId: DODO_SUBSCRIPTION };

const begun = [
  dodoSubscription('subscription.active'),
  dodoPayment('payment.succeeded', SUBSCRIBED),
];
const renewed = [
  dodoSubscription('subscription.renewed', { at: APRIL, startsAt: APRIL, endsAt: MAY }),
  dodoPayment('payment.succeeded', { ...SUBSCRIBED, paymentId: 'pay_2', at: APRIL }),
];

test('a one-time payment creates a license for each product of the cart, which its refund ends', () => {
  const paid = dodoPayment('payment.succeeded', { quantity: 3 });
  const license = computeOne(read([paid]));
  assert.deepEqual(
    [license.transactionId, license.lineKey, license.quantity, license.expiresAt],
    ['pay_ann', 'once:0', 3, null],
  );
  const part = dodoRefund({ at: later(3), amount: 190, isPartial: true });
  assert.equal(computeOne(read([paid, part])).refundedAt, null);
  const rest = dodoRefund({ at: later(4), amount: 1_000, isPartial: true, refundId: 'ref_2' });
  assert.deepEqual(computeOne(read([paid, part, rest])).refundedAt, later(4));
  assert.deepEqual(computeOne(read([paid, dodoRefund({ at: later(5) })])).refundedAt, later(5));
});

test('a subscription has one license under its own id, which a renewal extends', () => {
  const license = computeOne(read(begun));
  assert.deepEqual(
    [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
    [DODO_SUBSCRIPTION, DODO_SUBSCRIPTION, 'recurring:0', APRIL],
  );
  const later2 = computeOne(read([...begun, ...renewed]));
  assert.deepEqual([later2.transactionId, later2.expiresAt], [DODO_SUBSCRIPTION, MAY]);
});

test('a payment that cannot be collected leaves the paid month', () => {
  const held = dodoSubscription('subscription.on_hold', {
    at: APRIL,
    status: 'on_hold',
    startsAt: APRIL,
    endsAt: MAY,
  });
  const license = computeOne(read([...begun, held]));
  assert.deepEqual([license.expiresAt, license.hasGrace], [APRIL, true]);
});

test('a cancellation is scheduled, then ends the subscription', () => {
  const announced = dodoSubscription('subscription.updated', {
    at: later(5),
    object: { cancel_at_next_billing_date: true },
  });
  assert.deepEqual(computeOne(read([...begun, announced])).cancelScheduledFor, APRIL);
  const ended = dodoSubscription('subscription.cancelled', {
    at: APRIL,
    status: 'cancelled',
    object: { cancelled_at: APRIL.toISOString() },
  });
  const license = computeOne(read([...begun, announced, ended]));
  assert.deepEqual([license.canceledAt, license.expiresAt], [APRIL, APRIL]);
});

test('an event that is delivered late has the newer state, which changes nothing', () => {
  const ended = { status: 'cancelled', object: { cancelled_at: APRIL.toISOString() } };
  const late = dodoSubscription('subscription.active', ended);
  const [, payment] = begun;
  assert.ok(payment);
  const cancelled = dodoSubscription('subscription.cancelled', { ...ended, at: APRIL });
  const license = computeOne(read([late, payment, cancelled]));
  assert.deepEqual([license.canceledAt, license.expiresAt], [APRIL, APRIL]);
});

test('a dispute suspends the license until it is won', () => {
  const paid = dodoPayment('payment.succeeded');
  const opened = dodoDispute('dispute.opened', { at: later(3) });
  assert.deepEqual(computeOne(read([paid, opened])).disputedAt, later(3));
  const won = dodoDispute('dispute.won', { at: later(9) });
  assert.equal(computeOne(read([paid, opened, won])).disputedAt, null);
});

test('a trial has no grace period, and a pending subscription no license', () => {
  const trial = { trialDays: 14, endsAt: later(14) };
  const [license] = computeInAnyOrder(read([dodoSubscription('subscription.active', trial)]));
  assert.deepEqual([license?.expiresAt, license?.hasGrace], [later(14), false]);
  const pending = dodoSubscription('subscription.updated', { status: 'pending' });
  assert.deepEqual(computeInAnyOrder(read([pending])), []);
});
