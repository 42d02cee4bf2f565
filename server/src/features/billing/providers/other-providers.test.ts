/** Purchases of all providers lead to the same licenses in any order of events, with duplicates. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import type { Product } from '#server/config/catalog-model.ts';

import {
  lemonSqueezyInvoice,
  lemonSqueezyOrder,
  lemonSqueezySubscription,
} from '../../../../test/payment-providers/lemon-squeezy-events.ts';
import {
  standardEvent,
  standardPurchase,
} from '../../../../test/payment-providers/standard-webhooks-events.ts';
import {
  stripeChargeRefunded,
  stripeCheckoutCompleted,
  stripeDispute,
  stripeInvoicePaid,
  stripeInvoicePaymentPaid,
  stripeRefund,
  stripeSubscription,
} from '../../../../test/payment-providers/stripe-events.ts';
import { DAY_MS, TEST_START } from '../../../../test/test-clock.ts';
import type { BillingEvent } from '../facts.ts';
import { computeLicenses } from '../rules/compute-licenses.ts';
import { groupPurchases, type LedgerEntry } from '../rules/group-purchases.ts';
import { lemonSqueezyAdapter } from './lemon-squeezy/adapter.ts';
import { standardWebhooksAdapter } from './standard-webhooks/adapter.ts';
import { normalizeStripe } from './stripe/read-event.fixture.ts';

const APRIL = new Date('2027-04-01T12:00:00.000Z');
const MAY = new Date('2027-05-01T12:00:00.000Z');
const FIRST = { startsAt: TEST_START, endsAt: APRIL };
const SECOND = { startsAt: APRIL, endsAt: MAY };
const IDENTIFIER = '104e18a2-d755-4d4b-80c4-a6c1dcbe1c10';

const SOLD = new Set(['price_personal', 'price_monthly', '17', 'once:18', 'personal', 'monthly']);

function findProduct(priceId: string): Product | null {
  if (!SOLD.has(priceId)) return null;
  return {
    id: priceId,
    name: priceId,
    productType: 'app',
    tier: 'pro',
    features: [],
    maxActivations: 1,
    durationDays: null,
    offlineDays: 14,
    moves: { extra: 3, days: 30 },
    prices: { paddle: [], stripe: [], lemonsqueezy: [], standard: [] },
  };
}

function stripe(events: readonly unknown[]): BillingEvent[] {
  return events.map((event) => normalizeStripe(event));
}

function lemonSqueezy(events: readonly unknown[]): BillingEvent[] {
  return events.map((event) => {
    const rawBody = Buffer.from(JSON.stringify(event));
    return lemonSqueezyAdapter.normalize(event, { headers: {}, rawBody });
  });
}

/** The ids sort opposite to time, because shops choose them freely. */
function standard(events: readonly unknown[]): BillingEvent[] {
  return events.map((event, index) => {
    const headers = { 'webhook-id': `msg_${events.length - index}` };
    return standardWebhooksAdapter.normalize(event, { headers, rawBody: Buffer.alloc(0) });
  });
}

/** The licenses with a product. */
function compute(events: readonly BillingEvent[]) {
  const entries = events.flatMap(({ provider, eventId, facts }) =>
    facts.flatMap((fact): LedgerEntry[] =>
      fact.kind === 'customer' ? [] : [{ provider, eventId, fact }],
    ),
  );
  return groupPurchases(entries)
    .flatMap(({ facts }) => computeLicenses(facts, findProduct))
    .filter(({ product }) => product !== null);
}

/** Asserts the licenses for every order of the events, with some duplicates. */
function settle(events: readonly BillingEvent[]) {
  const expected = compute(events);
  const some = fc.array(fc.constantFrom(...events), { maxLength: 3 });
  const shuffled = fc.shuffledSubarray([...events], { minLength: events.length });
  fc.assert(
    fc.property(shuffled, some, (order, again) => {
      assert.deepEqual(compute([...order, ...again]), expected);
    }),
    { numRuns: 60 },
  );
  return expected;
}

function settleOne(events: readonly BillingEvent[]) {
  const [license, ...others] = settle(events);
  assert.ok(license);
  assert.deepEqual(others, []);
  return license;
}

function later(days: number): Date {
  return new Date(TEST_START.getTime() + days * DAY_MS);
}

/** A refund by Standard Webhooks; full by default. */
function standardRefund(transactionId: string, days: number, data: Record<string, unknown> = {}) {
  const whole = { refund_id: 'refund-1', transaction_id: transactionId, full: true };
  return standardEvent('payment.refunded', { ...whole, ...data }, later(days));
}

describe('Stripe', () => {
  const once = stripeCheckoutCompleted({ eventId: 'evt_0' });
  const begun = [
    stripeCheckoutCompleted({ eventId: 'evt_5', subscriptionId: 'sub_ann' }),
    stripeSubscription('created', { eventId: 'evt_4', status: 'incomplete', period: FIRST }),
    stripeSubscription('updated', { eventId: 'evt_3', period: FIRST }),
    stripeInvoicePaid({ eventId: 'evt_2', period: FIRST }),
    stripeInvoicePaymentPaid({ eventId: 'evt_1' }),
  ];
  const renewed = [
    stripeSubscription('updated', { at: APRIL, invoiceId: 'in_2', period: SECOND }),
    stripeInvoicePaid({
      at: APRIL,
      invoiceId: 'in_2',
      reason: 'subscription_cycle',
      period: SECOND,
    }),
    stripeInvoicePaymentPaid({ at: APRIL, invoiceId: 'in_2', paymentIntentId: 'pi_2' }),
  ];

  test('a one-time checkout creates a perpetual license, which its refund ends', () => {
    const license = settleOne(stripe([once]));
    assert.deepEqual(
      [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
      ['pi_ann', 'cs_test_ann', 'once:0', null],
    );
    const at = later(3);
    const refunds = [stripeRefund('created', { at }), stripeChargeRefunded({ at })];
    for (const refund of refunds) {
      assert.deepEqual(settleOne(stripe([once, refund])).refundedAt, at);
    }
    assert.deepEqual(settleOne(stripe([once, ...refunds])).refundedAt, at);
    const failed = stripeRefund('failed', { at: later(4) });
    assert.equal(settleOne(stripe([once, ...refunds, failed])).refundedAt, null);
  });

  test('two partial refunds are a full refund, reported by refunds and charge', () => {
    const half = (refundId: string, days: number) =>
      stripeRefund('created', { refundId, amount: 500, at: later(days) });
    const part = stripeChargeRefunded({ amount: 500, at: later(1) });
    assert.equal(settleOne(stripe([once, half('re_1', 1), part])).refundedAt, null);
    const both = [once, half('re_1', 1), part, half('re_2', 2)];
    assert.deepEqual(settleOne(stripe(both)).refundedAt, later(2));
  });

  test('the invoice after a checkout creates no license and hides no refund', () => {
    const at = later(3);
    for (const apiVersion of ['acacia', 'basil'] as const) {
      const invoice = stripeInvoicePaid({ apiVersion, subscriptionId: null, reason: 'manual' });
      const events = [once, invoice, stripeInvoicePaymentPaid(), stripeRefund('created', { at })];
      assert.deepEqual(settleOne(stripe(events)).refundedAt, at, apiVersion);
    }
  });

  test('a checkout of a subscription creates one license to the end of the paid time', () => {
    const license = settleOne(stripe(begun));
    assert.deepEqual(
      [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
      ['in_ann', 'cs_test_ann', 'recurring:0', APRIL],
    );
  });

  test('only a paid invoice extends it, not the snapshot of the new period', () => {
    const [opened, ...paid] = renewed;
    assert.deepEqual(settleOne(stripe([...begun, opened])).expiresAt, APRIL);
    assert.deepEqual(settleOne(stripe([...begun, opened, ...paid])).expiresAt, MAY);
  });

  test('a refund of the newest payment ends it, one of an older payment does not', () => {
    const at = later(40);
    const all = [...begun, ...renewed];
    const newest = stripeRefund('created', { paymentIntentId: 'pi_2', at });
    assert.deepEqual(settleOne(stripe([...all, newest])).refundedAt, at);
    const older = stripeRefund('created', { paymentIntentId: 'pi_ann', at });
    assert.equal(settleOne(stripe([...all, older])).refundedAt, null);
  });

  test('a dispute suspends it until it is won', () => {
    const at = later(2);
    const disputed = [...begun, stripeDispute('created', { at })];
    assert.deepEqual(settleOne(stripe(disputed)).disputedAt, at);
    const won = stripeDispute('closed', { at: later(9), status: 'won' });
    assert.equal(settleOne(stripe([...disputed, won])).disputedAt, null);
  });

  test('a cancellation is scheduled, then ends the subscription', () => {
    const announced = stripeSubscription('updated', {
      at: later(5),
      period: FIRST,
      object: { cancel_at_period_end: true },
    });
    assert.deepEqual(settleOne(stripe([...begun, announced])).cancelScheduledFor, APRIL);
    const ended = stripeSubscription('deleted', { at: APRIL });
    const license = settleOne(stripe([...begun, announced, ended]));
    assert.deepEqual([license.canceledAt, license.expiresAt], [APRIL, APRIL]);
  });

  test('a failed first payment creates no license', () => {
    const failed = [
      stripeSubscription('created', { status: 'incomplete', period: FIRST }),
      stripeSubscription('updated', { status: 'incomplete_expired', period: FIRST, at: later(1) }),
    ];
    assert.deepEqual(settle(stripe(failed)), []);
  });
});

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
    const license = settleOne(lemonSqueezy([order]));
    assert.deepEqual(
      [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
      [IDENTIFIER, IDENTIFIER, 'once:0', null],
    );
    const refund = { variantId: 18, at: later(3), createdAt: TEST_START };
    const part = lemonSqueezyOrder('order_refunded', { ...refund, refunded: 999 });
    assert.equal(settleOne(lemonSqueezy([order, part])).refundedAt, null);
    const whole = lemonSqueezyOrder('order_refunded', { ...refund, refunded: 1_000 });
    assert.deepEqual(settleOne(lemonSqueezy([order, whole])).refundedAt, later(3));
  });

  test('a subscription creates one license under its order, and none before the order is known', () => {
    const license = settleOne(lemonSqueezy(begun));
    assert.deepEqual(
      [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
      [IDENTIFIER, IDENTIFIER, 'recurring:0', APRIL],
    );
    assert.deepEqual(settle(lemonSqueezy(begun.slice(1))), []);
  });

  test('each renewal extends it, with or without a trial', () => {
    assert.deepEqual(settleOne(lemonSqueezy([...begun, ...renewed])).expiresAt, MAY);
    const [order] = begun;
    const trial = lemonSqueezySubscription('subscription_created', {
      orderId: 5,
      subscriptionId: 9,
      status: 'on_trial',
      renewsAt: later(7),
    });
    assert.deepEqual(settleOne(lemonSqueezy([order, trial])).expiresAt, later(7));
    assert.deepEqual(settleOne(lemonSqueezy([order, trial, renewed[0]])).expiresAt, MAY);
  });

  test('a refund of the newest payment ends it', () => {
    const refund = lemonSqueezyInvoice('subscription_payment_refunded', {
      invoiceId: 6,
      subscriptionId: 9,
      refunded: 1_000,
      at: later(40),
    });
    const license = settleOne(lemonSqueezy([...begun, ...renewed, refund]));
    assert.deepEqual(license.refundedAt, later(40));
  });

  test('a cancellation is scheduled, then ends the subscription', () => {
    const common = { orderId: 5, subscriptionId: 9, createdAt: TEST_START, endsAt: APRIL };
    const announced = lemonSqueezySubscription('subscription_cancelled', {
      ...common,
      at: later(5),
      status: 'cancelled',
    });
    assert.deepEqual(settleOne(lemonSqueezy([...begun, announced])).cancelScheduledFor, APRIL);
    const ended = lemonSqueezySubscription('subscription_expired', {
      ...common,
      at: APRIL,
      status: 'expired',
    });
    const license = settleOne(lemonSqueezy([...begun, announced, ended]));
    assert.deepEqual([license.canceledAt, license.expiresAt], [APRIL, APRIL]);
  });
});

describe('Standard Webhooks', () => {
  const once = standardPurchase('order-1', ['personal']);
  const period = ({ startsAt, endsAt }: typeof FIRST) => ({
    period: { starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() },
  });
  const monthly = { lines: [{ price_id: 'monthly', cycle: { interval: 'month' } }] };
  const paid = { subscription_id: 'sub-1', ...monthly, total: 1_000 };
  const snapshot = { subscription_id: 'sub-1', transaction_id: 'order-1', ...monthly };
  const begun = [
    standardEvent('purchase.completed', { ...paid, transaction_id: 'order-1', ...period(FIRST) }),
    standardEvent('subscription.created', { ...snapshot, status: 'active', ...period(FIRST) }),
  ];
  const opened = standardEvent(
    'subscription.updated',
    { ...snapshot, status: 'active', ...period(SECOND) },
    APRIL,
  );
  const renewal = standardEvent(
    'purchase.renewed',
    { ...paid, transaction_id: 'order-2', ...period(SECOND) },
    APRIL,
  );
  const renewed = [opened, renewal];

  test('a one-time purchase creates a perpetual license, which its refund ends', () => {
    const license = settleOne(standard([once]));
    assert.deepEqual(
      [license.transactionId, license.lineKey, license.expiresAt],
      ['order-1', 'once:0', null],
    );
    assert.deepEqual(
      settleOne(standard([once, standardRefund('order-1', 3)])).refundedAt,
      later(3),
    );
    const rejected = standardRefund('order-1', 4, { status: 'rejected' });
    assert.equal(
      settleOne(standard([once, standardRefund('order-1', 3), rejected])).refundedAt,
      null,
    );
  });

  test('two partial refunds are a full refund', () => {
    const half = { full: null, total: 500 };
    const first = standardRefund('order-1', 1, half);
    const second = standardRefund('order-1', 2, { ...half, refund_id: 'refund-2' });
    assert.equal(settleOne(standard([once, first])).refundedAt, null);
    assert.deepEqual(settleOne(standard([once, first, second])).refundedAt, later(2));
  });

  test('a subscription creates one license to the end of the paid time', () => {
    const license = settleOne(standard(begun));
    assert.deepEqual(
      [license.transactionId, license.lineKey, license.expiresAt],
      ['order-1', 'recurring:0', APRIL],
    );
  });

  test('only a paid renewal extends it, not the snapshot of the new period', () => {
    assert.deepEqual(settleOne(standard([...begun, opened])).expiresAt, APRIL);
    assert.deepEqual(settleOne(standard([...begun, renewal])).expiresAt, MAY);
    assert.deepEqual(settleOne(standard([...begun, ...renewed])).expiresAt, MAY);
  });

  test('a refund of the newest payment ends it, one of an older payment does not', () => {
    const all = [...begun, ...renewed];
    assert.deepEqual(
      settleOne(standard([...all, standardRefund('order-2', 40)])).refundedAt,
      later(40),
    );
    assert.equal(settleOne(standard([...all, standardRefund('order-1', 40)])).refundedAt, null);
  });

  test('a dispute suspends it until it is won', () => {
    const dispute = { dispute_id: 'dispute-1', transaction_id: 'order-1' };
    const disputed = [...begun, standardEvent('payment.disputed', dispute, later(2))];
    assert.deepEqual(settleOne(standard(disputed)).disputedAt, later(2));
    const won = standardEvent('payment.dispute_won', dispute, later(9));
    assert.equal(settleOne(standard([...disputed, won])).disputedAt, null);
  });

  test('a cancellation is scheduled, then ends the subscription', () => {
    const change = { action: 'cancel', effective_at: APRIL.toISOString() };
    const announced = standardEvent(
      'subscription.updated',
      { ...snapshot, status: 'active', ...period(FIRST), scheduled_change: change },
      later(5),
    );
    assert.deepEqual(settleOne(standard([...begun, announced])).cancelScheduledFor, APRIL);
    const ended = standardEvent(
      'subscription.canceled',
      { ...snapshot, status: 'canceled' },
      APRIL,
    );
    const license = settleOne(standard([...begun, announced, ended]));
    assert.deepEqual(
      [license.canceledAt, license.cancelScheduledFor, license.expiresAt],
      [APRIL, null, APRIL],
    );
  });
});
