import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  stripeChargeRefunded,
  stripeDispute,
  stripeRefund,
} from '../../../../../test/payment-providers/stripe-events.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';

import { read, only } from './read-event.fixture.ts';

describe('money back', () => {
  test('a refund names the payment intent and how much', () => {
    assert.deepEqual(only(stripeRefund('created', { amount: 400 }), 'adjustment'), {
      kind: 'adjustment',
      adjustmentId: 're_ann',
      transactionId: 'pi_ann',
      occurredAt: TEST_START,
      effect: 'refund',
      status: 'approved',
      full: null,
      total: 400,
      lines: [],
    });
  });

  test('a refund under way is pending', () => {
    for (const status of ['pending', 'requires_action', 'something_new']) {
      assert.equal(only(stripeRefund('created', { status }), 'adjustment').status, 'pending');
    }
  });

  test('a refund that failed is rejected, and so is the word that all went back', () => {
    const facts = read(stripeRefund('failed')).facts.map((fact) =>
      fact.kind === 'adjustment' ? [fact.adjustmentId, fact.status] : [],
    );
    assert.deepEqual(facts, [
      ['re_ann', 'rejected'],
      ['ch_ann', 'rejected'],
    ]);
  });

  test('is told in order within one second: under way, done, failed', () => {
    const moments = ['pending', 'succeeded', 'failed', 'canceled'].map((status) =>
      read(stripeRefund('updated', { status })).facts.map((fact) => fact.occurredAt.getTime()),
    );
    const start = TEST_START.getTime();
    assert.deepEqual(moments, [
      [start - 1],
      [start],
      [start + 1, start + 1],
      [start + 1, start + 1],
    ]);
    assert.equal(only(stripeChargeRefunded(), 'adjustment').occurredAt.getTime(), start);
  });

  test('a charge that went back as a whole says so without an amount; of a part the refunds tell', () => {
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

  test('a dispute counts until it is won, an inquiry never', () => {
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
