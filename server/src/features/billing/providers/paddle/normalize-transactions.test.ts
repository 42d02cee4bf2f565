import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  PADDLE_IDS,
  PADDLE_MONTH,
  paddleId,
  paddleLineId,
  paddlePeriod,
  paddleTransactionCompleted,
} from '../../../../../test/payment-providers/paddle-events.ts';
import { UNKNOWN_CUSTOMER } from '../../facts.ts';

import { AT, MONTHLY, ONCE, receive, factOf, pick, normalizePaddle } from './read-event.fixture.ts';

describe('transaction.completed', () => {
  test('becomes a payment with its lines in order and the ids of their line items', () => {
    const transactionId = paddleId('txn', 'both');
    const event = paddleTransactionCompleted({
      transactionId,
      subscriptionId: PADDLE_IDS.subscription,
      period: paddlePeriod(AT),
      lines: [
        { priceId: MONTHLY, cycle: PADDLE_MONTH, quantity: 3, unitAmount: 1_000 },
        { priceId: ONCE, unitAmount: 4_900 },
      ],
    });
    const details = event.data['details'];
    assert.ok(typeof details === 'object' && details !== null && 'line_items' in details);
    assert.ok(Array.isArray(details.line_items));
    details.line_items.reverse();
    assert.deepEqual(factOf(event), {
      kind: 'payment',
      transactionId,
      subscriptionId: PADDLE_IDS.subscription,
      origin: 'purchase',
      customerId: PADDLE_IDS.customer,
      customer: UNKNOWN_CUSTOMER,
      occurredAt: AT,
      period: { startsAt: AT, endsAt: new Date('2027-04-01T12:00:00.000Z') },
      lines: [
        {
          lineId: paddleLineId(transactionId, 0),
          priceId: MONTHLY,
          quantity: 3,
          cycle: { interval: 'month', frequency: 1 },
          total: 3_000,
        },
        {
          lineId: paddleLineId(transactionId, 1),
          priceId: ONCE,
          quantity: 1,
          cycle: null,
          total: 4_900,
        },
      ],
      total: 7_900,
      tax: 1_317,
      currency: 'USD',
      reported: 'web',
    });
  });

  test('sells nothing for a quantity of 0, and marks one that is not plausible', () => {
    const quantities = [0, 1.5, -3, '2', 1_000_000_000].map((quantity) => {
      const items = [{ price: { id: ONCE }, quantity }];
      const fact = factOf(paddleTransactionCompleted({ data: { items } }));
      assert.ok(fact.kind === 'payment');
      return fact.lines.map((line) => line.quantity);
    });
    assert.deepEqual(quantities, [[0], [-1], [-1], [-1], [-1]]);
  });

  test('accepts a missing period, subscription and customer', () => {
    const fact = factOf(paddleTransactionCompleted({ customerId: null }));
    assert.deepEqual(pick(fact, 'period', 'subscriptionId', 'customerId'), {
      period: null,
      subscriptionId: null,
      customerId: null,
    });
  });

  test('maps each origin', () => {
    const origins = {
      web: 'purchase',
      api: 'purchase',
      subscription_recurring: 'renewal',
      subscription_update: 'change',
      subscription_charge: 'change',
      subscription_payment_method_change: 'other',
      a_new_one: 'other',
      constructor: 'other',
    };
    for (const [origin, expected] of Object.entries(origins)) {
      const fact = factOf(paddleTransactionCompleted({ origin }));
      assert.deepEqual(pick(fact, 'origin'), { origin: expected }, origin);
    }
  });

  test('accepts missing details, quantities, amounts and custom data', () => {
    const item = { price: { id: ONCE } };
    const fact = factOf(
      paddleTransactionCompleted({
        data: {
          items: [item],
          details: undefined,
          origin: undefined,
          custom_data: undefined,
          billing_period: { starts_at: '0001-01-01T00:00:00Z', ends_at: '2027-04-01T12:00:00Z' },
        },
      }),
    );
    assert.deepEqual(pick(fact, 'origin', 'lines', 'total', 'period', 'customer'), {
      origin: 'other',
      lines: [{ lineId: ONCE, priceId: ONCE, quantity: 1, cycle: null, total: null }],
      total: null,
      period: null,
      customer: UNKNOWN_CUSTOMER,
    });
  });

  test('assigns separate line items to two items of one price', () => {
    const line = { priceId: ONCE };
    const fact = factOf(paddleTransactionCompleted({ lines: [line, line] }));
    assert.ok(fact.kind === 'payment');
    assert.deepEqual(
      fact.lines.map(({ lineId }) => lineId),
      [paddleLineId(PADDLE_IDS.transaction, 0), paddleLineId(PADDLE_IDS.transaction, 1)],
    );
  });

  test('reads the total after credit, and only integer amounts', () => {
    const totals: [unknown, number | null][] = [
      [{ total: '2900', grand_total: '1900' }, 1_900],
      [{ total: '2900' }, 2_900],
      [{ total: 2900 }, 2_900],
      [{ total: '29.00' }, null],
      [{ total: '9'.repeat(16) }, null],
      [null, null],
    ];
    for (const [value, total] of totals) {
      const fact = factOf(paddleTransactionCompleted({ data: { details: { totals: value } } }));
      assert.deepEqual(pick(fact, 'total'), { total }, JSON.stringify(value));
    }
  });

  test('reads a valid address from the custom data', () => {
    const cases: [unknown, string | null][] = [
      [{ customer_email: ' Ann@example.com ' }, 'Ann@example.com'],
      [{ customerEmail: 'ann@example.com' }, 'ann@example.com'],
      [{ email: 'ann@example.com' }, 'ann@example.com'],
      [{ customer_email: 'none', email: 'ann@example.com' }, 'ann@example.com'],
      [{ email: 'Ann <ann@example.com>' }, null],
      [{ email: 'ann@example.com\nBcc: all@example.com' }, null],
      [{ email: `${'a'.repeat(65)}@example.com` }, null],
      [{ email: ['ann@example.com'] }, null],
      ['ann@example.com', null],
      [null, null],
    ];
    for (const [customData, email] of cases) {
      const fact = factOf(paddleTransactionCompleted({ data: { custom_data: customData } }));
      const expected = { customer: { ...UNKNOWN_CUSTOMER, email } };
      assert.deepEqual(pick(fact, 'customer'), expected, JSON.stringify(customData));
    }
  });

  test('needs attention with an unknown billing cycle', () => {
    for (const billing_cycle of [
      { interval: 'decade', frequency: 1 },
      { interval: 'month', frequency: 0 },
      { interval: 'month', frequency: '1' },
      { interval: 'month' },
    ]) {
      const event = receive(
        paddleTransactionCompleted({ data: { items: [{ price: { id: ONCE, billing_cycle } }] } }),
      );
      const { facts, ignoredBecause } = normalizePaddle(event);
      assert.deepEqual(facts, []);
      assert.equal(
        ignoredBecause,
        'Needs attention: the transaction has an unknown billing cycle. Update Latchkey, in case the provider changed its format, and replay the event.',
      );
    }
  });
});
