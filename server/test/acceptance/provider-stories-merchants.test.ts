/** The life of a subscription at Polar, Dodo Payments and Creem. */
import { createHmac } from 'node:crypto';
import { describe } from 'node:test';

import { TEST_WEBHOOK_SECRETS } from '../harness.ts';
import {
  CREEM_CHECKOUT,
  CREEM_PRODUCT,
  creemCheckout,
  creemRefund,
  creemSubscription,
} from '../payment-providers/creem-events.ts';
import {
  DODO_PRODUCT,
  DODO_SUBSCRIPTION,
  dodoPayment,
  dodoRefund,
  dodoSubscription,
} from '../payment-providers/dodo-events.ts';
import {
  POLAR_CHECKOUT,
  POLAR_PRODUCT,
  POLAR_SUBSCRIPTION,
  polarOrder,
  polarSubscription,
} from '../payment-providers/polar-events.ts';
import { ANNOUNCED, APRIL, MAY, REFUNDED, SECOND, signAs, startStories } from './provider-story.ts';

const follow = await startStories(
  `polar: [${POLAR_PRODUCT}], dodo: [${DODO_PRODUCT}], creem: [${CREEM_PRODUCT}]`,
);
const [POLAR_SECRET = ''] = TEST_WEBHOOK_SECRETS.polar;
const [DODO_SECRET = ''] = TEST_WEBHOOK_SECRETS.dodo;
const [CREEM_SECRET = ''] = TEST_WEBHOOK_SECRETS.creem;

describe('a subscription from start to end, as the checkout page sees it', () => {
  const subscribed = { subscriptionId: POLAR_SUBSCRIPTION };
  const next = { ...subscribed, orderId: 'next', reason: 'subscription_cycle' };
  follow('Polar', {
    path: '/api/v1/webhooks/polar',
    // Its library encodes the text of the secret in base64, which that of the specification decodes.
    sign: signAs(Buffer.from(POLAR_SECRET).toString('base64')),
    checkoutId: POLAR_CHECKOUT,
    purchase: [
      polarSubscription('subscription.created', { status: 'incomplete' }),
      polarOrder('order.paid', subscribed),
      polarSubscription('subscription.active'),
    ],
    renewal: [
      polarOrder('order.paid', { ...next, at: APRIL }),
      polarSubscription('subscription.cycled', { at: APRIL, ...SECOND }),
    ],
    cancellation: [
      polarSubscription('subscription.canceled', {
        at: ANNOUNCED,
        ...SECOND,
        object: { cancel_at_period_end: true },
      }),
    ],
    end: [
      polarSubscription('subscription.revoked', {
        at: MAY,
        status: 'canceled',
        object: { ended_at: MAY.toISOString() },
      }),
    ],
    refund: [
      polarOrder('order.refunded', { ...next, at: REFUNDED, refunded: 1_000, status: 'refunded' }),
    ],
  });

  follow('Dodo Payments', {
    path: '/api/v1/webhooks/dodo',
    sign: signAs(DODO_SECRET),
    checkoutId: DODO_SUBSCRIPTION,
    purchase: [
      dodoPayment('payment.succeeded', { subscriptionId: DODO_SUBSCRIPTION }),
      dodoSubscription('subscription.active'),
    ],
    renewal: [
      dodoSubscription('subscription.renewed', { at: APRIL, ...SECOND }),
      dodoPayment('payment.succeeded', {
        subscriptionId: DODO_SUBSCRIPTION,
        paymentId: 'pay_2',
        at: APRIL,
      }),
    ],
    cancellation: [
      dodoSubscription('subscription.updated', {
        at: ANNOUNCED,
        ...SECOND,
        object: { cancel_at_next_billing_date: true },
      }),
    ],
    end: [
      dodoSubscription('subscription.cancelled', {
        at: MAY,
        status: 'cancelled',
        object: { cancelled_at: MAY.toISOString() },
      }),
    ],
    refund: [dodoRefund({ at: REFUNDED, paymentId: 'pay_2' })],
  });

  follow('Creem', {
    path: '/api/v1/webhooks/creem',
    // They have no library that signs.
    sign: (body) => ({
      'creem-signature': createHmac('sha256', CREEM_SECRET).update(body).digest('hex'),
    }),
    checkoutId: CREEM_CHECKOUT,
    purchase: [
      creemCheckout({ isRecurring: true }),
      creemSubscription('subscription.active'),
      creemSubscription('subscription.paid'),
    ],
    renewal: [
      creemSubscription('subscription.paid', { at: APRIL, ...SECOND, transactionId: 'tran_2' }),
    ],
    cancellation: [
      creemSubscription('subscription.scheduled_cancel', {
        at: ANNOUNCED,
        ...SECOND,
        status: 'scheduled_cancel',
      }),
    ],
    end: [
      creemSubscription('subscription.canceled', {
        at: MAY,
        status: 'canceled',
        object: { canceled_at: MAY.toISOString() },
      }),
    ],
    refund: [creemRefund({ at: REFUNDED, transactionId: 'tran_2', isRecurring: true })],
  });
});
