import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  stripeChargeRefunded,
  stripeDispute,
  stripeRefund,
} from '../../../../../test/payment-providers/stripe-events.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';

import { read, only } from './read-event.fixture.ts';

describe('refunds and disputes', () => {
  test('a refund has the payment intent and the amount', () => {
    assert.deepEqual(only(stripeRefund('created', { amount: 400 }), 'adjustment'), {
      kind: 'adjustment',
      adjustmentId: 're_ann',
      transactionId: 'pi_ann',
      occurredAt: TEST_START,
      effect: 'refund',
      status: 'approved',
      full: null,
      total: 400,
      currency: 'EUR',
      reported: 'succeeded',
      lines: [],
    });
  });

  test('a refund in progress is pending', () => {
    for (const status of ['pending', 'requires_action', 'something_new']) {
      assert.equal(only(stripeRefund('created', { status }), 'adjustment').status, 'pending');
    }
  });

  test('a failed refund is rejected, and so is the full refund of its charge', () => {
    const facts = read(stripeRefund('failed')).facts.map((fact) =>
      fact.kind === 'adjustment' ? [fact.adjustmentId, fact.status] : [],
    );
    assert.deepEqual(facts, [
      ['re_ann', 'rejected'],
      ['ch_ann', 'rejected'],
    ]);
  });

  test('orders states within a second: pending, approved, rejected', () => {
    const times = ['pending', 'succeeded', 'failed', 'canceled'].map((status) =>
      read(stripeRefund('updated', { status })).facts.map((fact) => fact.occurredAt.getTime()),
    );
    const start = TEST_START.getTime();
    assert.deepEqual(times, [[start - 1], [start], [start + 1, start + 1], [start + 1, start + 1]]);
    assert.equal(only(stripeChargeRefunded(), 'adjustment').occurredAt.getTime(), start);
  });

  test('a fully refunded charge has no amount; a partial one is ignored', () => {
    const whole = only(stripeChargeRefunded(), 'adjustment');
    assert.deepEqual(
      [whole.adjustmentId, whole.transactionId, whole.full, whole.total],
      ['ch_ann', 'pi_ann', true, null],
    );
    const part = read(stripeChargeRefunded({ amount: 1 }));
    assert.equal(
      part.ignoredBecause,
      'A partial refund of the charge: refund.created contains the amount.',
    );
  });

  test('a dispute is approved until it is won; an inquiry has no effect', () => {
    const cases = [
      ['needs_response', 'chargeback', 'approved'],
      ['under_review', 'chargeback', 'approved'],
      ['lost', 'chargeback', 'approved'],
      ['won', 'chargeback', 'reversed'],
      ['warning_needs_response', 'none', 'approved'],
      ['warning_closed', 'none', 'approved'],
    ];
    for (const [status = '', ...expected] of cases) {
      const fact = only(stripeDispute('updated', { status }), 'adjustment');
      assert.deepEqual([fact.effect, fact.status], expected, status);
      assert.deepEqual([fact.adjustmentId, fact.transactionId], ['du_ann', 'pi_ann']);
    }
  });
});
