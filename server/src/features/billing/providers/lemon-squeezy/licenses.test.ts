/** Purchases become the same licenses in any order of events, with duplicates. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  lemonSqueezyInvoice,
  lemonSqueezyOrder,
  lemonSqueezySubscription,
} from '../../../../../test/payment-providers/lemon-squeezy-events.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';
import type { BillingEvent } from '../../facts.ts';
import { addCycle } from '../../rules/billing-cycle.ts';
import { APRIL, later, MAY, computeInAnyOrder, computeOne } from '../any-order.fixture.ts';
import { lemonSqueezyAdapter } from './adapter.ts';

const IDENTIFIER = '104e18a2-d755-4d4b-80c4-a6c1dcbe1c10';

function lemonSqueezy(events: readonly unknown[]): BillingEvent[] {
  return events.map((event) => {
    const rawBody = Buffer.from(JSON.stringify(event));
    return lemonSqueezyAdapter.normalize(event, { headers: {}, rawBody });
  });
}

describe('Lemon Squeezy', () => {
  const begun = [
    lemonSqueezyOrder('order_created', { orderId: 5 }),
    lemonSqueezySubscription('subscription_created', {
      orderId: 5,
      subscriptionId: 9,
      renewsAt: APRIL,
    }),
    lemonSqueezyInvoice('subscription_payment_success', {
      invoiceId: 5,
      subscriptionId: 9,
      reason: 'initial',
    }),
  ];
  const renewed = [
    lemonSqueezySubscription('subscription_updated', {
      orderId: 5,
      subscriptionId: 9,
      renewsAt: MAY,
      at: APRIL,
      createdAt: TEST_START,
    }),
    lemonSqueezyInvoice('subscription_payment_success', {
      invoiceId: 6,
      subscriptionId: 9,
      at: APRIL,
    }),
  ];

  test('an order of a one-time variant creates a perpetual license, which its refund ends', () => {
    const order = lemonSqueezyOrder('order_created', { variantId: 18 });
    const license = computeOne(lemonSqueezy([order]));
    assert.deepEqual(
      [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
      [IDENTIFIER, IDENTIFIER, 'once:0', null],
    );
    const refund = { variantId: 18, at: later(3), createdAt: TEST_START };
    const part = lemonSqueezyOrder('order_refunded', { ...refund, refunded: 999 });
    assert.equal(computeOne(lemonSqueezy([order, part])).refundedAt, null);
    const whole = lemonSqueezyOrder('order_refunded', { ...refund, refunded: 1_000 });
    assert.deepEqual(computeOne(lemonSqueezy([order, whole])).refundedAt, later(3));
  });

  test('an invoice that is paid after the end pays a cycle from its day on, and the license stays canceled', () => {
    const of = { orderId: 5, subscriptionId: 9, createdAt: TEST_START };
    const end = lemonSqueezySubscription('subscription_expired', {
      ...of,
      status: 'expired',
      renewsAt: MAY,
      endsAt: later(46),
      at: later(46),
    });
    const invoice = lemonSqueezyInvoice('subscription_payment_success', {
      invoiceId: 6,
      subscriptionId: 9,
      at: later(48),
    });
    const license = computeOne(lemonSqueezy([...begun, end, invoice]));
    const month = addCycle(later(48), { interval: 'month', frequency: 1 });
    assert.deepEqual([license.expiresAt, license.canceledAt], [month, later(46)]);
  });

  test('a subscription creates one license under its order, and none before the order is known', () => {
    const license = computeOne(lemonSqueezy(begun));
    assert.deepEqual(
      [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
      [IDENTIFIER, IDENTIFIER, 'recurring:0', APRIL],
    );
    assert.deepEqual(computeInAnyOrder(lemonSqueezy(begun.slice(1))), []);
  });

  test('each renewal extends it, with or without a trial', () => {
    assert.deepEqual(computeOne(lemonSqueezy([...begun, ...renewed])).expiresAt, MAY);
    const [order] = begun;
    const trial = lemonSqueezySubscription('subscription_created', {
      orderId: 5,
      subscriptionId: 9,
      status: 'on_trial',
      renewsAt: later(7),
    });
    assert.deepEqual(computeOne(lemonSqueezy([order, trial])).expiresAt, later(7));
    assert.deepEqual(computeOne(lemonSqueezy([order, trial, renewed[0]])).expiresAt, MAY);
  });

  test('a refund of the newest payment ends it', () => {
    const refund = lemonSqueezyInvoice('subscription_payment_refunded', {
      invoiceId: 6,
      subscriptionId: 9,
      refunded: 1_000,
      at: later(40),
    });
    const license = computeOne(lemonSqueezy([...begun, ...renewed, refund]));
    assert.deepEqual(license.refundedAt, later(40));
  });

  test('a cancellation is scheduled, then ends the subscription', () => {
    const common = { orderId: 5, subscriptionId: 9, createdAt: TEST_START, endsAt: APRIL };
    const announced = lemonSqueezySubscription('subscription_cancelled', {
      ...common,
      at: later(5),
      status: 'cancelled',
    });
    assert.deepEqual(computeOne(lemonSqueezy([...begun, announced])).cancelScheduledFor, APRIL);
    const ended = lemonSqueezySubscription('subscription_expired', {
      ...common,
      at: APRIL,
      status: 'expired',
    });
    const license = computeOne(lemonSqueezy([...begun, announced, ended]));
    assert.deepEqual([license.canceledAt, license.expiresAt], [APRIL, APRIL]);
  });
});
