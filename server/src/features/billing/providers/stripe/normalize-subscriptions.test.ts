import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { stripeSubscription } from '../../../../../test/payment-providers/stripe-events.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';

import { MONTH_END, VERSIONS, pause, read, only } from './read-event.fixture.ts';

describe('a subscription', () => {
  for (const apiVersion of VERSIONS) {
    test(`becomes a snapshot with period and lines (${apiVersion})`, () => {
      const lines = [{ itemId: 'si_1', priceId: 'price_monthly', quantity: 4 }];
      const fact = only(stripeSubscription('created', { apiVersion, lines }), 'subscription');
      assert.deepEqual(fact, {
        kind: 'subscription',
        subscriptionId: 'sub_ann',
        transactionId: 'in_ann',
        customerId: 'cus_ann',
        customer: { email: null, name: null, locale: null },
        occurredAt: TEST_START,
        status: 'active',
        period: { startsAt: TEST_START, endsAt: MONTH_END },
        pausedAt: null,
        canceledAt: null,
        scheduledChange: null,
        lines: [
          {
            lineId: 'si_1',
            priceId: 'price_monthly',
            quantity: 4,
            cycle: { interval: 'month', frequency: 1 },
            total: null,
          },
        ],
        reported: 'active',
      });
    });
  }

  test('maps each status, with a period only while active', () => {
    const statuses = {
      active: 'active',
      trialing: 'trialing',
      past_due: 'past_due',
      incomplete: 'past_due',
      unpaid: 'paused',
      paused: 'paused',
      canceled: 'canceled',
      incomplete_expired: 'canceled',
    };
    for (const [status, expected] of Object.entries(statuses)) {
      const fact = only(stripeSubscription('updated', { status }), 'subscription');
      assert.equal(fact.status, expected, status);
      const runs = expected !== 'paused' && expected !== 'canceled';
      assert.equal(fact.period !== null, runs, status);
    }
    const unknown = read(stripeSubscription('updated', { status: 'something_new' }));
    assert.equal(
      unknown.ignoredBecause,
      'Needs attention: the subscription has an unknown status. Update Latchkey, in case the provider changed its format, and replay the event.',
    );
  });

  test('refers to the purchase only at its creation', () => {
    const fact = only(stripeSubscription('updated', { invoiceId: 'in_2' }), 'subscription');
    assert.equal(fact.transactionId, null);
  });

  test('is canceled at its end, not at the time of the request', () => {
    const object = { canceled_at: 1_800_000_000 };
    const fact = only(stripeSubscription('deleted', { object }), 'subscription');
    assert.deepEqual([fact.status, fact.canceledAt], ['canceled', TEST_START]);
  });

  test('schedules a cancellation for the end of the period, or the given time', () => {
    const asked = { cancel_at_period_end: true, canceled_at: 1_800_000_000 };
    const first = only(stripeSubscription('updated', { object: asked }), 'subscription');
    assert.equal(first.status, 'active');
    assert.deepEqual(first.scheduledChange, { action: 'cancel', effectiveAt: MONTH_END });
    const object = { cancel_at: 1_900_000_000 };
    const second = only(stripeSubscription('updated', { object }), 'subscription');
    const effectiveAt = new Date(1_900_000_000_000);
    assert.deepEqual(second.scheduledChange, { action: 'cancel', effectiveAt });
  });

  test('is paused by a void pause of the collection, but not by others', () => {
    const rests = only(stripeSubscription('updated', pause('void')), 'subscription');
    const effectiveAt = new Date(1_900_000_000_000);
    assert.equal(rests.status, 'paused');
    assert.deepEqual(rests.scheduledChange, { action: 'resume', effectiveAt });
    const runs = only(stripeSubscription('updated', pause('keep_as_draft')), 'subscription');
    assert.equal(runs.status, 'active');
  });

  test('has no paid period with collection by sent invoices', () => {
    const object = { collection_method: 'send_invoice' };
    assert.equal(only(stripeSubscription('created', { object }), 'subscription').period, null);
  });

  test('orders events within a second: created, changed, deleted', () => {
    const times = (['created', 'updated', 'deleted'] as const).map((change) =>
      only(stripeSubscription(change), 'subscription').occurredAt.getTime(),
    );
    const start = TEST_START.getTime();
    assert.deepEqual(times, [start, start + 1, start + 2]);
  });
});
