import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  stripeInvoicePaid,
  stripeInvoicePaymentPaid,
} from '../../../../../test/payment-providers/stripe-events.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';

import { ANN, VERSIONS, only } from './read-event.fixture.ts';

describe('invoice events', () => {
  for (const apiVersion of VERSIONS) {
    test(`become a purchase for a new subscription (${apiVersion})`, () => {
      const period = { startsAt: TEST_START, endsAt: new Date('2028-03-01T12:00:00.000Z') };
      const lines = [
        { itemId: 'si_1', priceId: 'price_yearly', quantity: 2, interval: 'year' },
      ] as const;
      const fact = only(stripeInvoicePaid({ apiVersion, period, lines }), 'payment');
      assert.deepEqual(fact, {
        kind: 'payment',
        transactionId: 'in_ann',
        aliases: apiVersion === 'basil' ? [] : ['pi_ann', 'ch_ann'],
        subscriptionId: 'sub_ann',
        origin: 'purchase',
        customerId: 'cus_ann',
        customer: { ...ANN, locale: null },
        occurredAt: TEST_START,
        period,
        lines: [
          {
            lineId: 'si_1',
            priceId: 'price_yearly',
            quantity: 2,
            cycle: { interval: 'year', frequency: 1 },
            total: 1_000,
          },
        ],
        total: 1_000,
        currency: 'EUR',
        reported: 'subscription_create',
      });
    });

    test(`skip prorations, and have no cycle for one-time lines (${apiVersion})`, () => {
      const lines = [
        { itemId: 'si_2', priceId: 'price_monthly' },
        { itemId: 'si_1', priceId: 'price_old', amount: -500, proration: true },
        { itemId: 'si_3', priceId: 'price_new', proration: true },
        { priceId: 'price_setup', interval: null },
      ];
      const fact = only(stripeInvoicePaid({ apiVersion, lines }), 'payment');
      assert.deepEqual(
        fact.lines.map(({ priceId, cycle }) => [priceId, cycle !== null]),
        [
          ['price_setup', false],
          ['price_monthly', true],
        ],
      );
    });
  }

  test('map each billing reason, and are only recorded without a subscription', () => {
    const reasons = {
      subscription_create: 'purchase',
      subscription_cycle: 'renewal',
      subscription_update: 'change',
      manual: 'change',
      automatic_pending_invoice_item_invoice: 'change',
      something_new: 'other',
    };
    for (const [reason, origin] of Object.entries(reasons)) {
      assert.equal(only(stripeInvoicePaid({ reason }), 'payment').origin, origin, reason);
    }
    assert.equal(only(stripeInvoicePaid({ subscriptionId: null }), 'payment').origin, 'other');
  });

  test('link the payment intent with an older fact', () => {
    const fact = only(stripeInvoicePaymentPaid(), 'payment');
    assert.equal(fact.transactionId, 'in_ann');
    assert.deepEqual(fact.aliases, ['pi_ann']);
    assert.ok(fact.occurredAt < only(stripeInvoicePaid(), 'payment').occurredAt);
  });
});
