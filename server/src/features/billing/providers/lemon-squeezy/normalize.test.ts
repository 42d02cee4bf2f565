import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import {
  lemonSqueezyInvoice,
  lemonSqueezyOrder,
  lemonSqueezySubscription,
} from '../../../../../test/payment-providers/lemon-squeezy-events.ts';
import { DAY_MS, TEST_START } from '../../../../../test/test-clock.ts';
import { UNKNOWN_CUSTOMER, type BillingFact } from '../../facts.ts';
import { MalformedEventError } from '../adapter.ts';
import { lemonSqueezyAdapter } from './adapter.ts';

const LATER = new Date(TEST_START.getTime() + 30 * DAY_MS);
const IDENTIFIER = '104e18a2-d755-4d4b-80c4-a6c1dcbe1c10';
const ANN = { email: 'ann@example.com', name: 'Ann Example', locale: null };

function read(event: unknown) {
  const rawBody = Buffer.from(JSON.stringify(event));
  return lemonSqueezyAdapter.normalize(JSON.parse(rawBody.toString()), { headers: {}, rawBody });
}

function snapshot(event: unknown) {
  const [fact] = read(event).facts;
  assert.ok(fact?.kind === 'subscription');
  return fact;
}

/** The end of the paid period of an event. */
function paidUntil(event: unknown): Date | null {
  const found = read(event).facts.find(
    (fact): fact is Extract<BillingFact, { kind: 'payment' }> =>
      fact.kind === 'payment' && fact.origin === 'change',
  );
  return found?.period?.endsAt ?? null;
}

describe('order events', () => {
  test('become a purchase with an unguessable id, and the number as alias', () => {
    const order = lemonSqueezyOrder('order_created', { orderId: 5, quantity: 2 });
    const eventId = createHash('sha256').update(JSON.stringify(order)).digest('hex');
    assert.deepEqual(read(order), {
      provider: 'lemonsqueezy',
      eventId,
      type: 'order_created',
      occurredAt: TEST_START,
      ignoredBecause: null,
      facts: [
        {
          kind: 'payment',
          transactionId: IDENTIFIER,
          aliases: ['order:5'],
          subscriptionId: null,
          origin: 'purchase',
          customerId: '3',
          customer: ANN,
          occurredAt: TEST_START,
          period: null,
          lines: [{ lineId: '50', priceId: 'once:17', quantity: 2, cycle: null, total: 1_000 }],
          total: 1_000,
          currency: 'EUR',
          reported: 'paid',
        },
      ],
    });
  });

  test('are ignored if unpaid', () => {
    for (const status of ['pending', 'failed', 'fraudulent']) {
      const order = lemonSqueezyOrder('order_created', { attributes: { status } });
      const { facts, ignoredBecause } = read(order);
      assert.deepEqual([facts, ignoredBecause], [[], 'The order is not paid.'], status);
    }
  });

  test('become a refund with its total and whether it is full', () => {
    const [part] = read(lemonSqueezyOrder('order_refunded', { refunded: 400 })).facts;
    assert.deepEqual(part, {
      kind: 'adjustment',
      adjustmentId: 'order:1',
      transactionId: IDENTIFIER,
      occurredAt: TEST_START,
      effect: 'refund',
      status: 'approved',
      full: false,
      total: 400,
      currency: 'EUR',
      reported: 'partial_refund',
      lines: [],
    });
    const [whole] = read(lemonSqueezyOrder('order_refunded', { refunded: 1_000 })).facts;
    assert.ok(whole?.kind === 'adjustment');
    assert.deepEqual([whole.full, whole.total], [true, 1_000]);
  });
});

describe('a subscription', () => {
  test('become a snapshot, the link to the order and the paid period', () => {
    const event = lemonSqueezySubscription('subscription_created', {
      subscriptionId: 9,
      orderId: 5,
      quantity: 3,
      renewsAt: new Date('2027-04-01T12:00:00.000Z'),
    });
    const period = { startsAt: TEST_START, endsAt: new Date('2027-04-01T12:00:00.000Z') };
    const word = {
      kind: 'payment',
      subscriptionId: '9',
      customerId: null,
      customer: UNKNOWN_CUSTOMER,
      occurredAt: TEST_START,
      lines: [],
      total: null,
    };
    assert.deepEqual(read(event).facts, [
      {
        kind: 'subscription',
        subscriptionId: '9',
        transactionId: null,
        customerId: '3',
        customer: ANN,
        occurredAt: TEST_START,
        status: 'active',
        period,
        pausedAt: null,
        canceledAt: null,
        scheduledChange: null,
        lines: [
          {
            lineId: '50',
            priceId: '17',
            quantity: 3,
            cycle: { interval: 'month', frequency: 1 },
            total: null,
          },
        ],
        reported: 'active',
      },
      { ...word, transactionId: 'order:5', origin: 'other', period: null },
      {
        ...word,
        transactionId: 'subscription:9:2027-04-01T12:00:00.000Z',
        origin: 'change',
        period,
      },
    ]);
  });

  test('infer the cycle only from a first period that is not a trial', () => {
    const trial = lemonSqueezySubscription('subscription_created', { status: 'on_trial' });
    assert.equal(snapshot(trial).lines[0]?.cycle, null);
    const later = lemonSqueezySubscription('subscription_updated');
    assert.equal(snapshot(later).lines[0]?.cycle, null);
  });

  test('map each status, and prove payment only while active', () => {
    const cases: [string, string, Date | null][] = [
      ['on_trial', 'trialing', LATER],
      ['active', 'active', LATER],
      ['past_due', 'past_due', null],
      ['unpaid', 'paused', null],
      ['paused', 'paused', null],
      ['expired', 'canceled', null],
    ];
    for (const [status, expected, paid] of cases) {
      const event = lemonSqueezySubscription('subscription_updated', { status });
      assert.equal(snapshot(event).status, expected, status);
      assert.deepEqual(paidUntil(event), paid, status);
    }
    const unknown = lemonSqueezySubscription('subscription_updated', { status: 'something_new' });
    assert.equal(
      read(unknown).ignoredBecause,
      'Needs attention: the subscription has an unknown status. Update Latchkey, in case the provider changed its format, and replay the event.',
    );
  });

  test('stay active after a cancellation until they expire', () => {
    const endsAt = new Date('2027-03-20T00:00:00.000Z');
    const cancelled = lemonSqueezySubscription('subscription_cancelled', {
      status: 'cancelled',
      endsAt,
    });
    assert.equal(snapshot(cancelled).status, 'active');
    assert.deepEqual(snapshot(cancelled).scheduledChange, {
      action: 'cancel',
      effectiveAt: endsAt,
    });
    assert.deepEqual(paidUntil(cancelled), endsAt);
    const expired = lemonSqueezySubscription('subscription_expired', { status: 'expired', endsAt });
    assert.deepEqual(snapshot(expired).canceledAt, endsAt);
    assert.equal(snapshot(expired).scheduledChange, null);
  });

  test('are paused by a void pause, but not by a free one', () => {
    const paused = (mode: string) =>
      snapshot(
        lemonSqueezySubscription('subscription_paused', {
          status: 'paused',
          attributes: { pause: { mode, resumes_at: LATER.toISOString() } },
        }),
      );
    assert.equal(paused('void').status, 'paused');
    assert.deepEqual(paused('void').scheduledChange, { action: 'resume', effectiveAt: LATER });
    assert.equal(paused('free').status, 'active');
  });
});

describe('invoice events', () => {
  test('become a renewal, distinct from the order with the same number', () => {
    const event = lemonSqueezyInvoice('subscription_payment_success', {
      invoiceId: 1,
      subscriptionId: 9,
    });
    assert.deepEqual(read(event).facts, [
      {
        kind: 'payment',
        transactionId: 'invoice:1',
        subscriptionId: '9',
        origin: 'renewal',
        customerId: '3',
        customer: ANN,
        occurredAt: TEST_START,
        period: null,
        lines: [],
        total: 1_000,
        currency: 'EUR',
        reported: 'renewal',
      },
    ]);
  });

  test('become a change if reported, and are only recorded for the order itself', () => {
    for (const [reason, origin] of [
      ['updated', 'change'],
      ['initial', 'other'],
      ['something_new', 'other'],
    ]) {
      const event = lemonSqueezyInvoice('subscription_payment_success', { reason: reason ?? '' });
      const [fact] = read(event).facts;
      assert.equal(fact?.kind === 'payment' && fact.origin, origin);
    }
  });

  test('become a refund of the invoice', () => {
    const event = lemonSqueezyInvoice('subscription_payment_refunded', { refunded: 1_000 });
    const [fact] = read(event).facts;
    assert.ok(fact?.kind === 'adjustment');
    assert.deepEqual([fact.transactionId, fact.full, fact.total], ['invoice:1', true, 1_000]);
  });
});

describe('unreadable events', () => {
  test('are ignored with a reason if their name is unknown', () => {
    const event = {
      ...lemonSqueezyOrder('order_created'),
      meta: { event_name: 'affiliate_activated' },
    };
    const { facts, ignoredBecause } = read(event);
    assert.deepEqual([facts, ignoredBecause], [[], 'No license depends on affiliate_activated.']);
  });

  test('are malformed with a hash as id if the body does not match the name', () => {
    for (const body of [
      {},
      { meta: { event_name: 'order_created' } },
      lemonSqueezyOrder('order_created', { attributes: { identifier: undefined } }),
      lemonSqueezyOrder('order_created', { attributes: { updated_at: 'x', created_at: null } }),
      lemonSqueezySubscription('subscription_updated', { attributes: { order_id: null } }),
    ]) {
      const eventId = createHash('sha256').update(JSON.stringify(body)).digest('hex');
      assert.throws(
        () => read(body),
        (error) => error instanceof MalformedEventError && error.header.eventId === eventId,
      );
    }
  });

  test('throw only MalformedEventError for any JSON', () => {
    const samples = [
      lemonSqueezyOrder('order_created'),
      lemonSqueezyOrder('order_refunded', { refunded: 1 }),
      lemonSqueezySubscription('subscription_created'),
      lemonSqueezySubscription('subscription_cancelled', { status: 'cancelled', endsAt: LATER }),
      lemonSqueezyInvoice('subscription_payment_success'),
      lemonSqueezyInvoice('subscription_payment_refunded'),
    ];
    const names = new Set(samples.flatMap(({ data }) => Object.keys(data.attributes)));
    const spoiled = fc.record({
      sample: fc.constantFrom(...samples),
      attributes: fc.dictionary(fc.constantFrom(...names), fc.jsonValue()),
    });
    const body = fc.oneof(
      fc.jsonValue(),
      spoiled.map(({ sample: { meta, data }, attributes }) => ({
        meta,
        data: { ...data, attributes: { ...data.attributes, ...attributes } },
      })),
    );
    fc.assert(
      fc.property(body, (drawn) => {
        try {
          read(drawn);
        } catch (error) {
          assert.ok(error instanceof MalformedEventError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
