import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  PADDLE_IDS,
  paddleAdjustment,
  paddleCustomer,
  paddleId,
  paddleLineId,
} from '../../../../../test/payment-providers/paddle-events.ts';
import type { AdjustmentFact, BillingFact, CustomerFact } from '../../facts.ts';
import { normalizePaddle } from './read-event.fixture.ts';

const AT = new Date('2027-03-01T12:00:00.000Z');
const LINE = paddleLineId(PADDLE_IDS.transaction);

function normalize(event: unknown): { facts: readonly BillingFact[]; reason: string | null } {
  const { facts, ignoredBecause } = normalizePaddle(JSON.parse(JSON.stringify(event)));
  return { facts, reason: ignoredBecause };
}

function adjustmentOf(event: unknown): AdjustmentFact {
  const [fact] = normalize(event).facts;
  assert.ok(fact?.kind === 'adjustment');
  return fact;
}

function customerOf(event: unknown): CustomerFact {
  const [fact] = normalize(event).facts;
  assert.ok(fact?.kind === 'customer');
  return fact;
}

describe('adjustment.*', () => {
  test('becomes an adjustment with its lines', () => {
    const lines = [{ lineId: LINE }, { lineId: paddleId('txnitm', 'b'), type: 'tax', total: 483 }];
    const event = paddleAdjustment('created', { type: 'partial', lines });
    assert.deepEqual(normalize(event), {
      facts: [
        {
          kind: 'adjustment',
          adjustmentId: PADDLE_IDS.adjustment,
          transactionId: PADDLE_IDS.transaction,
          occurredAt: AT,
          effect: 'refund',
          status: 'approved',
          full: false,
          total: 3_383,
          currency: 'USD',
          tax: 564,
          reported: 'refund',
          lines: [
            { lineId: LINE, full: true, total: 2_900 },
            { lineId: paddleId('txnitm', 'b'), full: false, total: 483 },
          ],
        },
      ],
      reason: null,
    });
  });

  test('maps each action, with separate warnings, chargebacks and reversals', () => {
    const effects = {
      refund: 'refund',
      chargeback: 'chargeback',
      chargeback_warning: 'chargeback_warning',
      chargeback_reverse: 'chargeback_reverse',
      chargeback_warning_reverse: 'chargeback_warning_reverse',
      credit: 'none',
      credit_reverse: 'none',
    };
    for (const [action, effect] of Object.entries(effects)) {
      assert.equal(adjustmentOf(paddleAdjustment('created', { action })).effect, effect, action);
    }
  });

  test('maps each status', () => {
    const statuses = {
      pending_approval: 'pending',
      approved: 'approved',
      rejected: 'rejected',
      reversed: 'reversed',
    };
    for (const [status, expected] of Object.entries(statuses)) {
      assert.equal(adjustmentOf(paddleAdjustment('updated', { status })).status, expected, status);
    }
  });

  test('is full, partial, or undecided', () => {
    const types: [string | null, boolean | null][] = [
      ['full', true],
      ['partial', false],
      ['tax', false],
      ['proration', false],
      [null, null],
      ['dreamt', null],
    ];
    for (const [type, full] of types) {
      const event = paddleAdjustment('created', {
        lines: [{ lineId: LINE, type }],
        data: { type },
      });
      const fact = adjustmentOf(event);
      assert.equal(fact.full, full, String(type));
      assert.deepEqual(fact.lines, [{ lineId: LINE, full, total: 2_900 }], String(type));
    }
    const older = adjustmentOf(paddleAdjustment('created', { type: null }));
    assert.equal(older.full, null);
  });

  test('accepts missing optional fields', () => {
    const bare = adjustmentOf(
      paddleAdjustment('created', { data: { items: undefined, totals: undefined } }),
    );
    assert.deepEqual([bare.lines, bare.total], [[], null]);
    const items = [{ item_id: LINE, amount: '500' }];
    const { lines } = adjustmentOf(paddleAdjustment('created', { data: { items } }));
    assert.deepEqual(lines, [{ lineId: LINE, full: null, total: 500 }]);
  });

  test('needs attention with an unknown action or status', () => {
    assert.deepEqual(normalize(paddleAdjustment('created', { action: 'toString' })), {
      facts: [],
      reason:
        'Needs attention: the adjustment has an unknown action. Update Latchkey, in case the provider changed its format, and replay the event.',
    });
    assert.deepEqual(normalize(paddleAdjustment('created', { status: 'dreaming' })), {
      facts: [],
      reason:
        'Needs attention: the adjustment has an unknown status. Update Latchkey, in case the provider changed its format, and replay the event.',
    });
  });
});

describe('customer.*', () => {
  test('becomes a customer', () => {
    for (const type of ['created', 'updated', 'imported'] as const) {
      const event = paddleCustomer(type, { email: 'Ann@example.com', locale: 'pt-BR' });
      assert.deepEqual(customerOf(event), {
        kind: 'customer',
        customerId: PADDLE_IDS.customer,
        occurredAt: AT,
        customer: { email: 'Ann@example.com', name: 'Ann Example', locale: 'pt-BR' },
      });
    }
  });

  test('drops invalid details', () => {
    const unknown = { email: null, name: null, locale: null };
    for (const data of [
      { email: undefined, name: undefined, locale: undefined },
      { email: null, name: null, locale: null },
      { email: 'not an address', name: '', locale: '' },
      { email: 'a@b\0', name: 'Ann\0', locale: 'en\n' },
      { email: '\ud800@example.com', name: '\ud800', locale: 'x'.repeat(36) },
      { email: 1, name: 2, locale: 3 },
    ]) {
      const { customer } = customerOf(paddleCustomer('updated', { data }));
      assert.deepEqual(customer, data.locale === 'en\n' ? { ...unknown, locale: 'en' } : unknown);
    }
  });
});
