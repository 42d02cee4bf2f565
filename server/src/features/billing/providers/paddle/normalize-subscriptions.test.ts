import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  PADDLE_IDS,
  paddleSubscription,
} from '../../../../../test/payment-providers/paddle-events.ts';

import { UNKNOWN_CUSTOMER } from '../../facts.ts';
import { AT, MONTHLY, ONCE, factOf, pick, assertIgnored } from './read-event.fixture.ts';

describe('subscription.*', () => {
  test('becomes a snapshot with its lines in order', () => {
    const event = paddleSubscription('created', {
      lines: [{ priceId: MONTHLY, quantity: 5 }, { priceId: ONCE }],
      customData: { customer_email: 'ann@example.com' },
    });
    const line = { quantity: 1, cycle: { interval: 'month', frequency: 1 }, total: null };
    assert.deepEqual(factOf(event), {
      kind: 'subscription',
      subscriptionId: PADDLE_IDS.subscription,
      transactionId: PADDLE_IDS.transaction,
      customerId: PADDLE_IDS.customer,
      customer: { ...UNKNOWN_CUSTOMER, email: 'ann@example.com' },
      occurredAt: AT,
      status: 'active',
      period: { startsAt: AT, endsAt: new Date('2027-04-01T12:00:00.000Z') },
      pausedAt: null,
      canceledAt: null,
      scheduledChange: null,
      lines: [
        { ...line, lineId: MONTHLY, priceId: MONTHLY, quantity: 5 },
        { ...line, lineId: ONCE, priceId: ONCE },
      ],
      reported: 'active',
    });
  });

  test('maps the status of each type, without a period while paused or canceled', () => {
    const period = { startsAt: AT, endsAt: new Date('2027-04-01T12:00:00.000Z') };
    const off = { period: null, pausedAt: null, canceledAt: null };
    const cases = [
      ['created', { ...off, status: 'active', period }],
      ['imported', { ...off, status: 'active', period }],
      ['activated', { ...off, status: 'active', period }],
      ['updated', { ...off, status: 'active', period }],
      ['resumed', { ...off, status: 'active', period }],
      ['trialing', { ...off, status: 'trialing', period }],
      ['past_due', { ...off, status: 'past_due', period }],
      ['paused', { ...off, status: 'paused', pausedAt: AT }],
      ['canceled', { ...off, status: 'canceled', canceledAt: AT }],
    ] as const;
    for (const [type, expected] of cases) {
      const fact = factOf(paddleSubscription(type));
      assert.deepEqual(pick(fact, 'status', 'period', 'pausedAt', 'canceledAt'), expected, type);
    }
  });

  test('contains a known scheduled change', () => {
    const effectiveAt = new Date('2027-04-01T12:00:00.000Z');
    for (const action of ['cancel', 'pause', 'resume']) {
      const scheduledChange = { action, effectiveAt };
      const fact = factOf(paddleSubscription('updated', { scheduledChange }));
      assert.deepEqual(pick(fact, 'scheduledChange'), { scheduledChange });
    }
    for (const scheduled_change of [
      { action: 'dream', effective_at: '2027-04-01T12:00:00Z' },
      { action: 'cancel', effective_at: '0001-01-01T00:00:00Z' },
      { action: 'cancel' },
      null,
      undefined,
    ]) {
      const fact = factOf(paddleSubscription('updated', { data: { scheduled_change } }));
      assert.deepEqual(pick(fact, 'scheduledChange'), { scheduledChange: null });
    }
  });

  test('skips items that are not recurring', () => {
    const lines = [{ priceId: ONCE, cycle: null }, { priceId: MONTHLY }];
    const fact = factOf(paddleSubscription('updated', { lines }));
    assert.ok(fact.kind === 'subscription');
    assert.deepEqual(
      fact.lines.map(({ priceId }) => priceId),
      [MONTHLY],
    );
  });

  test('accepts missing optional fields, and uses the cycle of the subscription by default', () => {
    const data = {
      transaction_id: undefined,
      customer_id: undefined,
      current_billing_period: undefined,
      paused_at: undefined,
      canceled_at: '0001-01-01T00:00:00Z',
      scheduled_change: undefined,
      custom_data: undefined,
      billing_cycle: { interval: 'year', frequency: 1 },
      items: [{ price: { id: MONTHLY, billing_cycle: null } }],
    };
    assert.deepEqual(factOf(paddleSubscription('past_due', { data })), {
      kind: 'subscription',
      subscriptionId: PADDLE_IDS.subscription,
      transactionId: null,
      customerId: null,
      customer: UNKNOWN_CUSTOMER,
      occurredAt: AT,
      status: 'past_due',
      period: null,
      pausedAt: null,
      canceledAt: null,
      scheduledChange: null,
      lines: [
        {
          lineId: MONTHLY,
          priceId: MONTHLY,
          quantity: 1,
          cycle: { interval: 'year', frequency: 1 },
          total: null,
        },
      ],
      reported: 'past_due',
    });
  });

  test('needs attention with an unknown status or billing cycle', () => {
    assertIgnored(
      paddleSubscription('updated', { status: 'dreaming' }),
      'Needs attention: the subscription has an unknown status. Update Latchkey, in case the provider changed its format, and replay the event.',
    );
    const items = [{ price: { id: MONTHLY, billing_cycle: { interval: 'decade', frequency: 1 } } }];
    assertIgnored(
      paddleSubscription('updated', { data: { items } }),
      'Needs attention: the subscription has an unknown billing cycle. Update Latchkey, in case the provider changed its format, and replay the event.',
    );
  });
});
