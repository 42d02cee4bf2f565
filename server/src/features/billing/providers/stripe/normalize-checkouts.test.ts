import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  stripeCheckoutCompleted,
  stripeInvoicePaid,
  type StripeTestEvent,
} from '../../../../../test/payment-providers/stripe-events.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';

import { ANN, read, only } from './read-event.fixture.ts';

describe('checkout events', () => {
  test('become a purchase under the payment intent, with the checkout id for the front end', () => {
    const event = read(stripeCheckoutCompleted({ eventId: 'evt_1', quantity: 3 }));
    assert.deepEqual(event, {
      provider: 'stripe',
      eventId: 'evt_1',
      type: 'checkout.session.completed',
      occurredAt: TEST_START,
      ignoredBecause: null,
      facts: [
        {
          kind: 'payment',
          transactionId: 'pi_ann',
          checkoutId: 'cs_test_ann',
          subscriptionId: null,
          origin: 'purchase',
          customerId: null,
          customer: ANN,
          occurredAt: TEST_START,
          period: null,
          lines: [
            {
              lineId: 'price_personal',
              priceId: 'price_personal',
              quantity: 3,
              cycle: null,
              total: null,
            },
          ],
          total: 1_000,
          currency: 'EUR',
        },
      ],
    });
  });

  test('use the checkout id for a free purchase without payment intent', () => {
    const checkout = { paymentIntentId: null, paymentStatus: 'no_payment_required' } as const;
    const fact = only(stripeCheckoutCompleted(checkout), 'payment');
    assert.equal(fact.transactionId, 'cs_test_ann');
  });

  test('prefer expanded line items to metadata', () => {
    const data = [{ id: 'li_1', price: { id: 'price_a', recurring: null }, quantity: 2 }];
    const fact = only(stripeCheckoutCompleted({ object: { line_items: { data } } }), 'payment');
    assert.deepEqual(fact.lines, [
      { lineId: 'li_1', priceId: 'price_a', quantity: 2, cycle: null, total: null },
    ]);
  });

  test('without a price are a payment with a problem, which an invoice solves', () => {
    const fact = only(stripeCheckoutCompleted({ priceId: null }), 'payment');
    assert.deepEqual(fact.lines, []);
    assert.match(fact.problem ?? '', /^Stripe does not report what this checkout sold\./);
  });

  test('of a payment link have a problem unless their quantity is known', () => {
    const link = { payment_link: 'plink_1' };
    const fact = (object: Record<string, unknown>) =>
      only(stripeCheckoutCompleted({ object: { ...link, ...object } }), 'payment');
    const plain = { price_id: 'price_personal' };
    assert.match(
      fact({ metadata: plain }).problem ?? '',
      /^Stripe does not report how many were sold/,
    );
    const metadata = { price_id: 'price_personal', quantity: '2' };
    assert.equal(fact({ metadata }).problem, undefined);
  });

  test('are ignored if unpaid or in another mode', () => {
    const cases: [StripeTestEvent, string][] = [
      [stripeCheckoutCompleted({ paymentStatus: 'unpaid' }), 'The payment is not completed.'],
      [
        stripeCheckoutCompleted({ object: { mode: 'setup' } }),
        'The checkout is neither a payment nor a subscription.',
      ],
    ];
    for (const [event, reason] of cases) {
      const { facts, ignoredBecause } = read(event);
      assert.deepEqual([facts, ignoredBecause], [[], reason]);
    }
  });

  test('link a subscription to the payment of its first invoice, with an older fact', () => {
    const fact = only(stripeCheckoutCompleted({ subscriptionId: 'sub_ann' }), 'payment');
    assert.equal(fact.transactionId, 'in_ann');
    assert.equal(fact.checkoutId, 'cs_test_ann');
    assert.equal(fact.subscriptionId, 'sub_ann');
    assert.deepEqual(fact.lines, []);
    assert.ok(fact.occurredAt < only(stripeInvoicePaid(), 'payment').occurredAt);
  });

  test('contain the buyer', () => {
    const fact = only(stripeCheckoutCompleted({ customerId: 'cus_1' }), 'customer');
    assert.deepEqual(fact, {
      kind: 'customer',
      customerId: 'cus_1',
      occurredAt: TEST_START,
      customer: ANN,
    });
  });
});
