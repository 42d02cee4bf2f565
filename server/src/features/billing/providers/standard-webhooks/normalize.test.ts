import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import {
  standardEvent,
  standardPurchase,
} from '../../../../../test/payment-providers/standard-webhooks-events.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';
import { UNKNOWN_CUSTOMER } from '../../facts.ts';
import { MalformedEventError } from '../adapter.ts';
import { standardWebhooksAdapter } from './adapter.ts';

const ANN = { email: 'ann@example.com', name: 'Ann Example', locale: 'en' };

function read(body: unknown, id = 'msg_1') {
  return standardWebhooksAdapter.normalize(body, {
    headers: { 'webhook-id': id },
    rawBody: Buffer.alloc(0),
  });
}

function factOf(type: string, data: Record<string, unknown>) {
  const { facts, ignoredBecause } = read(standardEvent(type, data));
  assert.equal(ignoredBecause, null);
  assert.equal(facts.length, 1);
  return facts[0];
}

test('reads the currency of a payment, if it is a code', () => {
  for (const [currency, expected] of [
    ['eur', 'EUR'],
    ['JPY', 'JPY'],
    ['Euro', undefined],
    ['€', undefined],
    [978, undefined],
    [null, undefined],
  ]) {
    const data = { transaction_id: 'order-1', total: 900, currency };
    const fact = factOf('purchase.renewed', data);
    assert.equal(fact?.kind === 'payment' ? fact.currency : null, expected);
  }
});

test('translates a purchase; missing fields are null', () => {
  assert.deepEqual(read(standardPurchase('order-1', ['personal'])), {
    provider: 'standard',
    eventId: 'msg_1',
    type: 'purchase.completed',
    occurredAt: TEST_START,
    ignoredBecause: null,
    facts: [
      {
        kind: 'payment',
        transactionId: 'order-1',
        subscriptionId: null,
        origin: 'purchase',
        customerId: 'customer-ann',
        customer: ANN,
        occurredAt: TEST_START,
        period: null,
        lines: [{ lineId: 'personal', priceId: 'personal', quantity: 1, cycle: null, total: null }],
        total: 1_000,
      },
    ],
  });
});

test('translates renewals and changes to payments', () => {
  const data = {
    transaction_id: 'order-2',
    subscription_id: 'sub-1',
    period: { starts_at: '2027-03-01T00:00:00Z', ends_at: '2028-03-01T00:00:00.123456789Z' },
    lines: [{ id: 'l', price_id: 'team', quantity: 5, cycle: { interval: 'year' }, total: 9 }],
  };
  for (const [type, origin] of [
    ['purchase.renewed', 'renewal'],
    ['purchase.changed', 'change'],
  ]) {
    assert.deepEqual(factOf(type ?? '', data), {
      kind: 'payment',
      transactionId: 'order-2',
      subscriptionId: 'sub-1',
      origin,
      customerId: null,
      customer: UNKNOWN_CUSTOMER,
      occurredAt: TEST_START,
      period: {
        startsAt: new Date('2027-03-01T00:00:00.000Z'),
        endsAt: new Date('2028-03-01T00:00:00.123Z'),
      },
      lines: [
        {
          lineId: 'l',
          priceId: 'team',
          quantity: 5,
          cycle: { interval: 'year', frequency: 1 },
          total: 9,
        },
      ],
      total: null,
    });
  }
});

describe('a subscription', () => {
  const period = { starts_at: '2027-03-01T00:00:00Z', ends_at: '2027-04-01T00:00:00Z' };
  const canceled = {
    subscription_id: 'sub-1',
    transaction_id: 'order-1',
    status: 'canceled',
    period,
    canceled_at: '2027-03-05T00:00:00Z',
  };

  test('becomes a snapshot, without a period once it has ended', () => {
    assert.deepEqual(factOf('subscription.canceled', canceled), {
      kind: 'subscription',
      subscriptionId: 'sub-1',
      transactionId: 'order-1',
      customerId: null,
      customer: UNKNOWN_CUSTOMER,
      occurredAt: TEST_START,
      status: 'canceled',
      period: null,
      pausedAt: null,
      canceledAt: new Date('2027-03-05T00:00:00.000Z'),
      scheduledChange: null,
      lines: [],
    });
  });

  test('contains a scheduled change', () => {
    const fact = factOf('subscription.updated', {
      ...canceled,
      status: 'active',
      scheduled_change: { action: 'cancel', effective_at: '2027-04-01T00:00:00Z' },
    });
    assert.ok(fact?.kind === 'subscription');
    const effectiveAt = new Date('2027-04-01T00:00:00.000Z');
    assert.deepEqual(fact.scheduledChange, { action: 'cancel', effectiveAt });
    assert.deepEqual(fact.period?.endsAt, effectiveAt);
    assert.equal(fact.canceledAt, null);
  });

  test('is ignored with an unknown value, and the reason lists known ones', () => {
    const cases: [Record<string, unknown>, string][] = [
      [
        { status: 'ended' },
        'Needs attention: the status is not one of active, trialing, past_due, paused, canceled. Send the event again with one of them.',
      ],
      [
        { lines: [{ price_id: 'p', cycle: { interval: 'fortnight' } }] },
        'Needs attention: the interval is not one of day, week, month, year. Send the event again with one of them.',
      ],
      [
        { scheduled_change: { action: 'sleep', effective_at: '2027-04-01T00:00:00Z' } },
        'Needs attention: the scheduled_change.action is not one of cancel, pause, resume. Send the event again with one of them.',
      ],
    ];
    for (const [data, reason] of cases) {
      const event = read(standardEvent('subscription.updated', { ...canceled, ...data }));
      assert.deepEqual([event.facts, event.ignoredBecause], [[], reason]);
    }
  });
});

describe('refunds and disputes', () => {
  test('a refund is approved by default', () => {
    const data = { refund_id: 'r', transaction_id: 'order-1', lines: [{ id: 'l', total: 5 }] };
    assert.deepEqual(factOf('payment.refunded', data), {
      kind: 'adjustment',
      adjustmentId: 'r',
      transactionId: 'order-1',
      occurredAt: TEST_START,
      effect: 'refund',
      status: 'approved',
      full: null,
      total: null,
      lines: [{ lineId: 'l', full: null, total: 5 }],
    });
    const pending = factOf('payment.refunded', { ...data, status: 'pending', full: true });
    assert.ok(pending?.kind === 'adjustment');
    assert.deepEqual([pending.status, pending.full], ['pending', true]);
  });

  test('a dispute is approved until it is won', () => {
    const data = { dispute_id: 'd', transaction_id: 'order-1' };
    for (const [type, status] of [
      ['payment.disputed', 'approved'],
      ['payment.dispute_won', 'reversed'],
    ]) {
      const fact = factOf(type ?? '', data);
      assert.ok(fact?.kind === 'adjustment');
      assert.deepEqual([fact.adjustmentId, fact.effect, fact.status], ['d', 'chargeback', status]);
    }
  });
});

test('translates a customer', () => {
  assert.deepEqual(factOf('customer.updated', { id: 'c', email: 'ann@example.com', name: '' }), {
    kind: 'customer',
    customerId: 'c',
    occurredAt: TEST_START,
    customer: { email: 'ann@example.com', name: null, locale: null },
  });
});

test('translates every example of the documentation', () => {
  const guide = readFileSync(
    new URL('../../../../../../docs/integrations/payments/own-shop.md', import.meta.url),
    'utf8',
  );
  const examples = [...guide.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = '']) => json);
  assert.ok(examples.length >= 5);
  for (const example of examples) {
    const { facts, ignoredBecause } = read(JSON.parse(example));
    assert.deepEqual([facts.length, ignoredBecause], [1, null], example);
  }
});

describe('unreadable events', () => {
  test('are ignored with a reason if their type is unknown', () => {
    const { facts, ignoredBecause } = read(standardEvent('invoice.sent', {}));
    assert.deepEqual([facts, ignoredBecause], [[], 'No license depends on invoice.sent.']);
  });

  test('are malformed if the body has another format; the message names the field', () => {
    const cases: [unknown, string][] = [
      [[], 'Missing or invalid: type, timestamp, data.'],
      [{ ...standardPurchase('a', []), timestamp: 'now' }, 'Missing or invalid: timestamp.'],
      [
        standardEvent('purchase.completed', {
          transaction_id: 'a',
          lines: [{ price_id: 'p', quantity: 0 }],
        }),
        'The data of purchase.completed are wrong at data.lines.0.quantity.',
      ],
      [standardEvent('payment.refunded', {}), 'The data of payment.refunded lack data.refund_id.'],
      [
        standardEvent('purchase.completed', { transaction_id: 'a', lines: [{}] }),
        'The data of purchase.completed lack data.lines.0.price_id.',
      ],
      [
        { ...standardEvent('payment.refunded', {}), data: null },
        'The data of payment.refunded are wrong at data.',
      ],
    ];
    for (const [body, message] of cases) {
      assert.throws(
        () => read(body),
        (error) =>
          error instanceof MalformedEventError &&
          error.message === message &&
          error.header.eventId === 'msg_1',
      );
    }
    assert.throws(() => read(standardPurchase('a', []), ''), MalformedEventError);
  });

  test('throw only MalformedEventError for any JSON', () => {
    const types = ['purchase.completed', 'subscription.updated', 'payment.refunded'];
    const field = fc.constantFrom(
      'transaction_id',
      'subscription_id',
      'refund_id',
      'status',
      'period',
      'lines',
      'customer',
    );
    const event = fc.record({
      type: fc.constantFrom(...types, 'payment.disputed', 'customer.updated', 'constructor'),
      timestamp: fc.constantFrom('2027-03-01T12:00:00Z', '0001-01-01T00:00:00Z', 'x'),
      data: fc.dictionary(field, fc.oneof(fc.string(), fc.jsonValue())),
    });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), event), (body) => {
        try {
          read(JSON.parse(JSON.stringify(body)));
        } catch (error) {
          assert.ok(error instanceof MalformedEventError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
