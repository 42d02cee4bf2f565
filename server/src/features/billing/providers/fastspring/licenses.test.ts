/** Purchases become the same licenses in any order of events, with duplicates. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  fastSpringCharge,
  fastSpringOrder,
  fastSpringReturn,
  fastSpringSubscription,
  type FastSpringSubscriptionOptions,
} from '../../../../../test/payment-providers/fastspring-events.ts';
import { DAY_MS } from '../../../../../test/test-clock.ts';
import type { BillingEvent } from '../../facts.ts';
import { APRIL, computeInAnyOrder, computeOne, later, MAY } from '../any-order.fixture.ts';
import { fastSpringAdapter } from './adapter.ts';

function fastSpring(...events: readonly object[]): BillingEvent[] {
  return events.map((event) =>
    fastSpringAdapter.normalize(event, { headers: {}, rawBody: Buffer.alloc(0) }),
  );
}

const order = (subscription: FastSpringSubscriptionOptions, isExpanded = true) =>
  fastSpringOrder({ isExpanded, items: [{ subtotal: 9.99, subscription }] });

describe('FastSpring', () => {
  const ordered = order({ next: APRIL });
  const activated = fastSpringSubscription('activated', { next: APRIL });
  const renewed = fastSpringCharge({ at: APRIL, next: MAY });

  test('an order creates a perpetual license, which returns of its whole amount end', () => {
    const license = computeOne(fastSpring(fastSpringOrder()));
    assert.deepEqual(
      [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
      ['fsord_1', 'fsord_1', 'once:0', null],
    );
    const half = { total: 10, items: [{ product: 'personal', subtotal: 10 }] };
    const first = fastSpringReturn({ ...half, returnId: 'fsret_1', at: later(3) });
    const rest = { total: 9.99, items: [{ product: 'personal', subtotal: 9.99 }] };
    const second = fastSpringReturn({ ...rest, returnId: 'fsret_2', at: later(4) });
    assert.equal(computeOne(fastSpring(fastSpringOrder(), first)).refundedAt, null);
    const whole = computeOne(fastSpring(fastSpringOrder(), first, second));
    assert.deepEqual(whole.refundedAt, later(4));
  });

  test('the return of one item of a cart ends only its license', () => {
    const items = [
      { product: 'personal', subtotal: 20 },
      { product: 'price_personal', subtotal: 30 },
    ];
    const returned = fastSpringReturn({ at: later(3), total: 30, items: items.slice(1) });
    const licenses = computeInAnyOrder(fastSpring(fastSpringOrder({ items }), returned));
    assert.deepEqual(
      licenses.map(({ priceId, refundedAt }) => [priceId, refundedAt]),
      [
        ['personal', null],
        ['price_personal', later(3)],
      ],
    );
  });

  test('a manual repetition of an order under a new id is the same purchase', () => {
    const again = fastSpringOrder({ at: later(1) });
    const licenses = computeInAnyOrder(fastSpring(fastSpringOrder(), again));
    assert.deepEqual(licenses.length, 1);
  });

  test('a subscription has one license, with and without expansion', () => {
    for (const isExpanded of [true, false]) {
      const events = [
        order({ next: APRIL }, isExpanded),
        fastSpringSubscription('activated', { next: APRIL, isExpanded }),
      ];
      const license = computeOne(fastSpring(...events));
      assert.deepEqual(
        [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
        ['fsord_1', 'fsord_1', 'recurring:0', APRIL],
      );
      const charge = fastSpringCharge({ at: APRIL, next: MAY, isExpanded });
      const updated = fastSpringSubscription('updated', { at: APRIL, next: MAY, isExpanded });
      assert.deepEqual(computeOne(fastSpring(...events, charge, updated)).expiresAt, MAY);
    }
  });

  test('a renewal alone extends an expanded subscription, and an overdue one keeps its paid time', () => {
    assert.deepEqual(computeOne(fastSpring(ordered, activated, renewed)).expiresAt, MAY);
    const overdue = fastSpringSubscription('payment.overdue', {
      state: 'overdue',
      at: later(32),
      next: MAY,
    });
    const license = computeOne(fastSpring(ordered, activated, overdue));
    assert.deepEqual([license.expiresAt, license.hasGrace], [APRIL, true]);
  });

  test('a trial has no grace period until it is paid', () => {
    const trial = fastSpringOrder({
      items: [{ subtotal: 0, subscription: { state: 'trial', next: later(14) } }],
    });
    const license = computeOne(fastSpring(trial));
    assert.deepEqual([license.expiresAt, license.hasGrace], [later(14), false]);
  });

  test('the return of a renewal takes away its month, and does not cancel', () => {
    const items = [{ product: 'monthly', subtotal: 9.99, subscriptionId: 'fssub_1' }];
    const refund = fastSpringReturn({ orderId: 'fsord_2', total: 9.99, at: later(40), items });
    const license = computeOne(fastSpring(ordered, activated, renewed, refund));
    assert.deepEqual([license.refundedAt, license.canceledAt], [later(40), null]);
  });

  test('a cancellation is scheduled, can be taken back, and ends the subscription', () => {
    const canceled = { next: APRIL, lastDay: new Date(APRIL.getTime() - DAY_MS) };
    const announced = fastSpringSubscription('canceled', {
      ...canceled,
      state: 'canceled',
      at: later(5),
    });
    const until = computeOne(fastSpring(ordered, activated, announced));
    assert.deepEqual([until.cancelScheduledFor, until.canceledAt], [APRIL, null]);
    const uncanceled = fastSpringSubscription('uncanceled', { next: APRIL, at: later(6) });
    const again = computeOne(fastSpring(ordered, activated, announced, uncanceled));
    assert.deepEqual([again.cancelScheduledFor, again.expiresAt], [null, APRIL]);
    const ended = fastSpringSubscription('deactivated', {
      ...canceled,
      state: 'deactivated',
      at: APRIL,
    });
    const license = computeOne(fastSpring(ordered, activated, announced, ended));
    assert.deepEqual([license.canceledAt, license.expiresAt], [APRIL, APRIL]);
  });

  test('two subscriptions of one order live and end separately', () => {
    const cart = fastSpringOrder({
      items: [
        { subtotal: 9.99, subscription: { subscriptionId: 'fssub_1', next: APRIL } },
        {
          subtotal: 99,
          subscription: { subscriptionId: 'fssub_2', product: 'price_monthly', next: APRIL },
        },
      ],
    });
    const ended = fastSpringSubscription('deactivated', {
      subscriptionId: 'fssub_1',
      state: 'deactivated',
      at: later(9),
    });
    const items = [{ product: 'price_monthly', subtotal: 99, subscriptionId: 'fssub_2' }];
    const returned = fastSpringReturn({ total: 99, at: later(3), items });
    const licenses = computeInAnyOrder(fastSpring(cart, ended, returned));
    assert.deepEqual(
      licenses.map(({ transactionId, priceId, canceledAt, refundedAt }) => [
        transactionId,
        priceId,
        canceledAt,
        refundedAt,
      ]),
      [
        ['fsord_1', 'monthly', later(9), null],
        ['fsord_1:fssub_2', 'price_monthly', null, later(3)],
      ],
    );
  });
});
