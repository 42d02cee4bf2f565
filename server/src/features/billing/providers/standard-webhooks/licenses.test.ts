/** Purchases become the same licenses in any order of events, with duplicates. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  standardEvent,
  standardPurchase,
} from '../../../../../test/payment-providers/standard-webhooks-events.ts';
import type { BillingEvent } from '../../facts.ts';
import { APRIL, FIRST, later, MAY, SECOND, computeOne } from '../any-order.fixture.ts';
import { standardWebhooksAdapter } from './adapter.ts';

/** The ids sort opposite to time, because shops choose them freely. */
function standard(events: readonly unknown[]): BillingEvent[] {
  return events.map((event, index) => {
    const headers = { 'webhook-id': `msg_${events.length - index}` };
    return standardWebhooksAdapter.normalize(event, { headers, rawBody: Buffer.alloc(0) });
  });
}

/** A refund by Standard Webhooks; full by default. */
function standardRefund(transactionId: string, days: number, data: Record<string, unknown> = {}) {
  const whole = { refund_id: 'refund-1', transaction_id: transactionId, full: true };
  return standardEvent('payment.refunded', { ...whole, ...data }, later(days));
}

function period({ startsAt, endsAt }: typeof FIRST) {
  return { period: { starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() } };
}

describe('Standard Webhooks', () => {
  const once = standardPurchase('order-1', ['personal']);
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
    const license = computeOne(standard([once]));
    assert.deepEqual(
      [license.transactionId, license.lineKey, license.expiresAt],
      ['order-1', 'once:0', null],
    );
    assert.deepEqual(
      computeOne(standard([once, standardRefund('order-1', 3)])).refundedAt,
      later(3),
    );
    const rejected = standardRefund('order-1', 4, { status: 'rejected' });
    assert.equal(
      computeOne(standard([once, standardRefund('order-1', 3), rejected])).refundedAt,
      null,
    );
  });

  test('two partial refunds are a full refund', () => {
    const half = { full: null, total: 500 };
    const first = standardRefund('order-1', 1, half);
    const second = standardRefund('order-1', 2, { ...half, refund_id: 'refund-2' });
    assert.equal(computeOne(standard([once, first])).refundedAt, null);
    assert.deepEqual(computeOne(standard([once, first, second])).refundedAt, later(2));
  });

  test('a subscription creates one license to the end of the paid time', () => {
    const license = computeOne(standard(begun));
    assert.deepEqual(
      [license.transactionId, license.lineKey, license.expiresAt],
      ['order-1', 'recurring:0', APRIL],
    );
  });

  test('it runs until the end of the period that is reported as active, and of its paid renewal', () => {
    assert.deepEqual(computeOne(standard([...begun, opened])).expiresAt, MAY);
    assert.deepEqual(computeOne(standard([...begun, renewal])).expiresAt, MAY);
    assert.deepEqual(computeOne(standard([...begun, ...renewed])).expiresAt, MAY);
  });

  test('a refund of the newest payment ends it, one of an older payment does not', () => {
    const all = [...begun, ...renewed];
    assert.deepEqual(
      computeOne(standard([...all, standardRefund('order-2', 40)])).refundedAt,
      later(40),
    );
    assert.equal(computeOne(standard([...all, standardRefund('order-1', 40)])).refundedAt, null);
  });

  test('a dispute suspends it until it is won', () => {
    const dispute = { dispute_id: 'dispute-1', transaction_id: 'order-1' };
    const disputed = [...begun, standardEvent('payment.disputed', dispute, later(2))];
    assert.deepEqual(computeOne(standard(disputed)).disputedAt, later(2));
    const won = standardEvent('payment.dispute_won', dispute, later(9));
    assert.equal(computeOne(standard([...disputed, won])).disputedAt, null);
  });

  test('a cancellation is scheduled, then ends the subscription', () => {
    const change = { action: 'cancel', effective_at: APRIL.toISOString() };
    const announced = standardEvent(
      'subscription.updated',
      { ...snapshot, status: 'active', ...period(FIRST), scheduled_change: change },
      later(5),
    );
    assert.deepEqual(computeOne(standard([...begun, announced])).cancelScheduledFor, APRIL);
    const ended = standardEvent(
      'subscription.canceled',
      { ...snapshot, status: 'canceled' },
      APRIL,
    );
    const license = computeOne(standard([...begun, announced, ended]));
    assert.deepEqual(
      [license.canceledAt, license.cancelScheduledFor, license.expiresAt],
      [APRIL, null, APRIL],
    );
  });
});
