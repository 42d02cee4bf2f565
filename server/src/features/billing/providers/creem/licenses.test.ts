/** Purchases at Creem become the same licenses in any order of events, with duplicates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  CREEM_CHECKOUT,
  creemCheckout,
  creemDispute,
  creemRefund,
  creemSubscription,
  type CreemTestEvent,
} from '../../../../../test/payment-providers/creem-events.ts';
import type { BillingEvent } from '../../facts.ts';
import { APRIL, computeOne, later, MAY } from '../any-order.fixture.ts';
import { creemAdapter } from './adapter.ts';

function read(events: readonly CreemTestEvent[]): BillingEvent[] {
  return events.map((event) =>
    creemAdapter.normalize(event, { headers: {}, rawBody: Buffer.alloc(0) }),
  );
}

const begun = [
  creemCheckout({ isRecurring: true }),
  creemSubscription('subscription.active'),
  creemSubscription('subscription.paid'),
];
const renewed = [
  creemSubscription('subscription.paid', {
    at: APRIL,
    startsAt: APRIL,
    endsAt: MAY,
    transactionId: 'tran_2',
  }),
];

test('a one-time checkout creates a perpetual license under its id, which its refund ends', () => {
  const bought = creemCheckout({ units: 2 });
  const license = computeOne(read([bought]));
  assert.deepEqual(
    [license.checkoutId, license.lineKey, license.quantity, license.expiresAt],
    [CREEM_CHECKOUT, 'once:0', 2, null],
  );
  const part = creemRefund({ at: later(3), amount: 190, transactionId: 'tran_part' });
  assert.equal(computeOne(read([bought, part])).refundedAt, null);
  const whole = creemRefund({ at: later(4) });
  assert.deepEqual(computeOne(read([bought, part, whole])).refundedAt, later(4));
});

test('a subscription has one license under its checkout, which a renewal extends', () => {
  const license = computeOne(read(begun));
  assert.deepEqual(
    [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
    [CREEM_CHECKOUT, CREEM_CHECKOUT, 'recurring:0', APRIL],
  );
  assert.deepEqual(computeOne(read([...begun, ...renewed])).expiresAt, MAY);
});

test('the refund of a renewal takes away its month, and nothing else', () => {
  const refund = creemRefund({ at: later(40), transactionId: 'tran_2', isRecurring: true });
  const ended = creemSubscription('subscription.canceled', {
    at: later(40),
    status: 'canceled',
    transactionId: 'tran_2',
    object: { canceled_at: later(40).toISOString() },
  });
  const license = computeOne(read([...begun, ...renewed, refund, ended]));
  assert.deepEqual([license.refundedAt, license.canceledAt], [later(40), later(40)]);
  const first = creemRefund({ at: later(40), isRecurring: true });
  const kept = computeOne(read([...begun, ...renewed, first]));
  assert.deepEqual([kept.refundedAt, kept.expiresAt], [null, MAY]);
});

test('a cancellation is scheduled, then ends the subscription', () => {
  const announced = creemSubscription('subscription.scheduled_cancel', {
    at: later(5),
    status: 'scheduled_cancel',
  });
  assert.deepEqual(computeOne(read([...begun, announced])).cancelScheduledFor, APRIL);
  const ended = creemSubscription('subscription.canceled', {
    at: APRIL,
    status: 'canceled',
    object: { canceled_at: APRIL.toISOString() },
  });
  const license = computeOne(read([...begun, announced, ended]));
  assert.deepEqual([license.canceledAt, license.expiresAt], [APRIL, APRIL]);
});

test('an expired period with the status active leaves the paid month', () => {
  const expired = creemSubscription('subscription.expired', {
    at: APRIL,
    startsAt: APRIL,
    endsAt: MAY,
  });
  assert.deepEqual(computeOne(read([...begun, expired])).expiresAt, APRIL);
});

test('a dispute suspends the license', () => {
  const dispute = creemDispute({ at: later(3) });
  assert.deepEqual(computeOne(read([creemCheckout(), dispute])).disputedAt, later(3));
  const recurring = creemDispute({ at: later(3), isRecurring: true });
  assert.deepEqual(computeOne(read([...begun, recurring])).disputedAt, later(3));
});
