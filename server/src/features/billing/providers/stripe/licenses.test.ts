/** Purchases become the same licenses in any order of events, with duplicates. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  stripeChargeRefunded,
  stripeCheckoutCompleted,
  stripeDispute,
  stripeInvoicePaid,
  stripeInvoicePaymentPaid,
  stripeRefund,
  stripeSubscription,
} from '../../../../../test/payment-providers/stripe-events.ts';
import type { BillingEvent } from '../../facts.ts';
import {
  APRIL,
  FIRST,
  later,
  MAY,
  SECOND,
  computeInAnyOrder,
  computeOne,
} from '../any-order.fixture.ts';
import { normalizeStripe } from './read-event.fixture.ts';

function stripe(events: readonly unknown[]): BillingEvent[] {
  return events.map((event) => normalizeStripe(event));
}

/** A refund of half of the payment. */
function half(refundId: string, days: number) {
  return stripeRefund('created', { refundId, amount: 500, at: later(days) });
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

  test('a one-time price that the seller bills to a subscription at once has a license', () => {
    const charged = stripeInvoicePaid({
      eventId: 'evt_6',
      at: later(2),
      invoiceId: 'in_manual',
      reason: 'manual',
      lines: [{ priceId: 'price_personal', interval: null }],
    });
    const licenses = computeInAnyOrder(stripe([...begun, charged]));
    assert.deepEqual(
      licenses.map(({ priceId, checkoutId, expiresAt }) => [priceId, checkoutId, expiresAt]),
      [
        ['price_monthly', 'cs_test_ann', APRIL],
        ['price_personal', 'in_manual', null],
      ],
    );
  });

  test('a one-time checkout creates a perpetual license, which its refund ends', () => {
    const license = computeOne(stripe([once]));
    assert.deepEqual(
      [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
      ['pi_ann', 'cs_test_ann', 'once:0', null],
    );
    const at = later(3);
    const refunds = [stripeRefund('created', { at }), stripeChargeRefunded({ at })];
    for (const refund of refunds) {
      assert.deepEqual(computeOne(stripe([once, refund])).refundedAt, at);
    }
    assert.deepEqual(computeOne(stripe([once, ...refunds])).refundedAt, at);
    const failed = stripeRefund('failed', { at: later(4) });
    assert.equal(computeOne(stripe([once, ...refunds, failed])).refundedAt, null);
  });

  test('two partial refunds are a full refund, reported by refunds and charge', () => {
    const part = stripeChargeRefunded({ amount: 500, at: later(1) });
    assert.equal(computeOne(stripe([once, half('re_1', 1), part])).refundedAt, null);
    const both = [once, half('re_1', 1), part, half('re_2', 2)];
    assert.deepEqual(computeOne(stripe(both)).refundedAt, later(2));
  });

  test('the invoice after a checkout creates no license and hides no refund', () => {
    const at = later(3);
    for (const apiVersion of ['acacia', 'basil'] as const) {
      const invoice = stripeInvoicePaid({ apiVersion, subscriptionId: null, reason: 'manual' });
      const events = [once, invoice, stripeInvoicePaymentPaid(), stripeRefund('created', { at })];
      assert.deepEqual(computeOne(stripe(events)).refundedAt, at, apiVersion);
    }
  });

  test('a checkout of a subscription creates one license to the end of the paid time', () => {
    const license = computeOne(stripe(begun));
    assert.deepEqual(
      [license.transactionId, license.checkoutId, license.lineKey, license.expiresAt],
      ['in_ann', 'cs_test_ann', 'recurring:0', APRIL],
    );
  });

  test('it runs until the end of the period that is reported as active, and of its paid invoice', () => {
    const [opened, ...paid] = renewed;
    assert.deepEqual(computeOne(stripe([...begun, opened])).expiresAt, MAY);
    assert.deepEqual(computeOne(stripe([...begun, opened, ...paid])).expiresAt, MAY);
  });

  test('a refund of the newest payment ends it, one of an older payment does not', () => {
    const at = later(40);
    const all = [...begun, ...renewed];
    const newest = stripeRefund('created', { paymentIntentId: 'pi_2', at });
    assert.deepEqual(computeOne(stripe([...all, newest])).refundedAt, at);
    const older = stripeRefund('created', { paymentIntentId: 'pi_ann', at });
    assert.equal(computeOne(stripe([...all, older])).refundedAt, null);
  });

  test('a dispute suspends it until it is won', () => {
    const at = later(2);
    const disputed = [...begun, stripeDispute('created', { at })];
    assert.deepEqual(computeOne(stripe(disputed)).disputedAt, at);
    const won = stripeDispute('closed', { at: later(9), status: 'won' });
    assert.equal(computeOne(stripe([...disputed, won])).disputedAt, null);
  });

  test('a cancellation is scheduled, then ends the subscription', () => {
    const announced = stripeSubscription('updated', {
      at: later(5),
      period: FIRST,
      object: { cancel_at_period_end: true },
    });
    assert.deepEqual(computeOne(stripe([...begun, announced])).cancelScheduledFor, APRIL);
    const ended = stripeSubscription('deleted', { at: APRIL });
    const license = computeOne(stripe([...begun, announced, ended]));
    assert.deepEqual([license.canceledAt, license.expiresAt], [APRIL, APRIL]);
  });

  test('a failed first payment creates no license', () => {
    const failed = [
      stripeSubscription('created', { status: 'incomplete', period: FIRST }),
      stripeSubscription('updated', { status: 'incomplete_expired', period: FIRST, at: later(1) }),
    ];
    assert.deepEqual(computeInAnyOrder(stripe(failed)), []);
  });
});
