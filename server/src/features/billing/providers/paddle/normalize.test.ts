import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  PADDLE_IDS,
  PADDLE_MONTH,
  paddleAdjustment,
  paddleCustomer,
  paddleEvent,
  paddleId,
  paddleLineId,
  paddlePeriod,
  paddleSubscription,
  paddleTransaction,
  paddleTransactionCompleted,
  type PaddleEvent,
} from '../../../../../test/paddle-events.ts';
import type { BillingFact } from '../../facts.ts';
import { MalformedEventError } from '../adapter.ts';
import { normalizePaddle } from './normalize.ts';

const AT = new Date('2027-03-01T12:00:00.000Z');
const NOBODY = { email: null, name: null, locale: null };
const MONTHLY = paddleId('pri', 'monthly');
const ONCE = paddleId('pri', 'once');

/** As it arrives: what is undefined has gone. */
function receive(event: unknown): unknown {
  return JSON.parse(JSON.stringify(event));
}

function normalize(event: PaddleEvent): ReturnType<typeof normalizePaddle> {
  return normalizePaddle(receive(event));
}

function factOf(event: PaddleEvent): BillingFact {
  const { facts, ignoredBecause } = normalize(event);
  assert.equal(ignoredBecause, null);
  const [fact, ...others] = facts;
  assert.ok(fact !== undefined && others.length === 0);
  return fact;
}

function pick(fact: BillingFact, ...names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fact).filter(([name]) => names.includes(name)));
}

function assertIgnored(event: PaddleEvent, reason: string): void {
  const { facts, ignoredBecause } = normalize(event);
  assert.deepEqual({ facts, ignoredBecause }, { facts: [], ignoredBecause: reason });
}

describe('an event', () => {
  test('keeps its id, its type and its time, cut to milliseconds', () => {
    const event = { ...paddleCustomer('created'), occurred_at: '2027-03-01T12:00:00.799627882Z' };
    const { provider, eventId, type, occurredAt } = normalize(event);
    assert.deepEqual(
      { provider, eventId, type, occurredAt },
      {
        provider: 'paddle',
        eventId: event.event_id,
        type: 'customer.created',
        occurredAt: new Date('2027-03-01T12:00:00.799Z'),
      },
    );
  });

  test('without an id, a type or a time is malformed', () => {
    const event = paddleCustomer('created');
    const cases: [unknown, string | null][] = [
      [null, null],
      [[], null],
      ['event', null],
      [{}, null],
      [{ ...event, event_id: undefined }, null],
      [{ ...event, event_id: '' }, null],
      [{ ...event, event_id: 7 }, null],
      [{ ...event, event_id: 'evt_\0' }, null],
      [{ ...event, event_id: 'e'.repeat(201) }, null],
      [{ ...event, event_type: undefined }, event.event_id],
      [{ ...event, event_type: null }, event.event_id],
      [{ ...event, occurred_at: undefined }, event.event_id],
      [{ ...event, occurred_at: 'yesterday' }, event.event_id],
      [{ ...event, occurred_at: '0001-01-01T00:00:00Z' }, event.event_id],
    ];
    for (const [body, eventId] of cases) {
      assert.throws(
        () => normalizePaddle(body === null ? null : receive(body)),
        (error) => error instanceof MalformedEventError && error.eventId === eventId,
        JSON.stringify(body),
      );
    }
  });

  test('that does not have what its type promises is malformed', () => {
    for (const event of [
      { ...paddleTransactionCompleted(), data: undefined },
      { ...paddleTransactionCompleted(), data: [] },
      paddleTransactionCompleted({ data: { id: undefined } }),
      paddleTransactionCompleted({ data: { items: undefined } }),
      paddleTransactionCompleted({ data: { items: [{ price: null, quantity: 1 }] } }),
      paddleTransactionCompleted({ data: { items: [{ price: { id: 'pri_1' }, quantity: 1.5 }] } }),
      paddleSubscription('created', { data: { status: undefined } }),
      paddleSubscription('created', { data: { items: {} } }),
      paddleAdjustment('created', { data: { transaction_id: null } }),
      paddleCustomer('created', { data: { id: undefined } }),
    ]) {
      assert.throws(
        () => normalizePaddle(receive(event)),
        (error) => error instanceof MalformedEventError && error.eventId === event.event_id,
        JSON.stringify(event.data),
      );
    }
  });

  test('of another type is ignored, whatever is in it, and says why', () => {
    for (const type of [
      'created',
      'updated',
      'ready',
      'billed',
      'paid',
      'past_due',
      'payment_failed',
      'canceled',
      'revised',
    ] as const) {
      assertIgnored(paddleTransaction(type), 'A transaction counts only once it is completed.');
    }
    for (const type of ['address.created', 'product.updated', 'subscription.dreamt', 'toString']) {
      assertIgnored(paddleEvent(type, { id: null }), `No license depends on ${type}.`);
    }
    const { data, ...bare } = paddleEvent('price.created', {});
    assert.deepEqual(data, {});
    assert.deepEqual(normalizePaddle(bare).facts, []);
  });
});

describe('transaction.completed', () => {
  test('is a payment, with its lines in order and their line items by price', () => {
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
      customer: NOBODY,
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
    });
  });

  test('may name neither period nor subscription nor buyer', () => {
    const fact = factOf(paddleTransactionCompleted({ customerId: null }));
    assert.deepEqual(pick(fact, 'period', 'subscriptionId', 'customerId'), {
      period: null,
      subscriptionId: null,
      customerId: null,
    });
  });

  test('has the origin that makes, extends or changes licenses, or is only recorded', () => {
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

  test('lacks what may be lacking: details, quantities, amounts, custom data', () => {
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
      customer: NOBODY,
    });
  });

  test('gives each of two items of one price its own line item', () => {
    const line = { priceId: ONCE };
    const fact = factOf(paddleTransactionCompleted({ lines: [line, line] }));
    assert.ok(fact.kind === 'payment');
    assert.deepEqual(
      fact.lines.map(({ lineId }) => lineId),
      [paddleLineId(PADDLE_IDS.transaction, 0), paddleLineId(PADDLE_IDS.transaction, 1)],
    );
  });

  test('counts what was paid after credit, and reads no amount that is no whole number', () => {
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

  test('takes the address from the custom data of the checkout, when there is a good one', () => {
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
      const expected = { customer: { ...NOBODY, email } };
      assert.deepEqual(pick(fact, 'customer'), expected, JSON.stringify(customData));
    }
  });

  test('is ignored with a billing cycle that is not known: never taken for one paid once', () => {
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
      assert.equal(ignoredBecause, 'The transaction has a billing cycle that is not known.');
    }
  });
});

describe('subscription.*', () => {
  test('is the whole subscription, its items in order', () => {
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
      customer: { ...NOBODY, email: 'ann@example.com' },
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
    });
  });

  test('has the status that each type tells, and no period while paused and once canceled', () => {
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

  test('tells what is to change, as far as it is known what and when', () => {
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

  test('renews no item that was only charged once with it', () => {
    const lines = [{ priceId: ONCE, cycle: null }, { priceId: MONTHLY }];
    const fact = factOf(paddleSubscription('updated', { lines }));
    assert.ok(fact.kind === 'subscription');
    assert.deepEqual(
      fact.lines.map(({ priceId }) => priceId),
      [MONTHLY],
    );
  });

  test('lacks what may be lacking; a price without a cycle has that of the subscription', () => {
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
      customer: NOBODY,
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
    });
  });

  test('is ignored with a status or a billing cycle that is not known', () => {
    assertIgnored(
      paddleSubscription('updated', { status: 'dreaming' }),
      'The subscription has a status that is not known.',
    );
    const items = [{ price: { id: MONTHLY, billing_cycle: { interval: 'decade', frequency: 1 } } }];
    assertIgnored(
      paddleSubscription('updated', { data: { items } }),
      'The subscription has a billing cycle that is not known.',
    );
  });
});
