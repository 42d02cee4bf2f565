/** The life of a subscription at each provider, signed by the provider's library if there is one. */
import { createHmac } from 'node:crypto';
import { describe } from 'node:test';

import { Stripe } from 'stripe';

import { TEST_WEBHOOK_SECRETS } from '../harness.ts';
import {
  fastSpringCharge,
  fastSpringOrder,
  fastSpringReturn,
  fastSpringSubscription,
} from '../payment-providers/fastspring-events.ts';
import {
  lemonSqueezyInvoice,
  lemonSqueezyOrder,
  lemonSqueezySubscription,
} from '../payment-providers/lemon-squeezy-events.ts';
import { standardEvent } from '../payment-providers/standard-webhooks-events.ts';
import {
  stripeCheckoutCompleted,
  stripeInvoicePaid,
  stripeInvoicePaymentPaid,
  stripeRefund,
  stripeSubscription,
} from '../payment-providers/stripe-events.ts';
import { DAY_MS, TEST_START } from '../test-clock.ts';
import {
  ANNOUNCED,
  APRIL,
  FIRST,
  MAY,
  REFUNDED,
  SECOND,
  signAs,
  startStories,
} from './provider-story.ts';

const follow = await startStories(
  'stripe: [price_monthly], lemonsqueezy: ["17"], fastspring: [monthly], standard: [monthly]',
);
const [STRIPE_SECRET = ''] = TEST_WEBHOOK_SECRETS.stripe;
const [LEMON_SQUEEZY_SECRET = ''] = TEST_WEBHOOK_SECRETS.lemonsqueezy;
const [FASTSPRING_SECRET = ''] = TEST_WEBHOOK_SECRETS.fastspring;
const [STANDARD_SECRET = ''] = TEST_WEBHOOK_SECRETS.standard;

/** A delivery of FastSpring with several events. */
const together = (...events: readonly unknown[]) => [{ events }];

const period = ({ startsAt, endsAt }: typeof FIRST) => ({
  period: { starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() },
});

describe('a subscription from start to end, as the checkout page sees it', () => {
  const { webhooks } = new Stripe('an-api-key');
  follow('Stripe', {
    path: '/api/v1/webhooks/stripe',
    sign: (payload, at) => {
      const timestamp = Math.floor(at.getTime() / 1_000);
      const about = { payload, secret: STRIPE_SECRET, timestamp };
      return { 'stripe-signature': webhooks.generateTestHeaderString(about) };
    },
    checkoutId: 'cs_test_ann',
    purchase: [
      stripeSubscription('created', { status: 'incomplete', period: FIRST }),
      stripeInvoicePaid({ period: FIRST }),
      stripeInvoicePaymentPaid(),
      stripeSubscription('updated', { period: FIRST }),
      stripeCheckoutCompleted({ subscriptionId: 'sub_ann' }),
    ],
    renewal: [
      stripeSubscription('updated', { at: APRIL, invoiceId: 'in_2', period: SECOND }),
      stripeInvoicePaid({
        at: APRIL,
        invoiceId: 'in_2',
        reason: 'subscription_cycle',
        period: SECOND,
      }),
      stripeInvoicePaymentPaid({ at: APRIL, invoiceId: 'in_2', paymentIntentId: 'pi_2' }),
    ],
    cancellation: [
      stripeSubscription('updated', {
        at: ANNOUNCED,
        invoiceId: 'in_2',
        period: SECOND,
        object: { cancel_at_period_end: true },
      }),
    ],
    end: [stripeSubscription('deleted', { at: MAY, invoiceId: 'in_2', period: SECOND })],
    refund: [stripeRefund('created', { at: REFUNDED, paymentIntentId: 'pi_2', chargeId: 'ch_2' })],
  });

  const of = { orderId: 5, subscriptionId: 9, createdAt: TEST_START };
  follow('Lemon Squeezy', {
    path: '/api/v1/webhooks/lemonsqueezy',
    // Their library cannot sign.
    sign: (body) => ({
      'x-signature': createHmac('sha256', LEMON_SQUEEZY_SECRET).update(body).digest('hex'),
    }),
    checkoutId: '104e18a2-d755-4d4b-80c4-a6c1dcbe1c10',
    purchase: [
      lemonSqueezyOrder('order_created', { orderId: 5 }),
      lemonSqueezySubscription('subscription_created', { ...of, renewsAt: APRIL }),
      lemonSqueezyInvoice('subscription_payment_success', {
        invoiceId: 5,
        ...of,
        reason: 'initial',
      }),
    ],
    renewal: [
      lemonSqueezyInvoice('subscription_payment_success', { invoiceId: 6, ...of, at: APRIL }),
      lemonSqueezySubscription('subscription_updated', { ...of, at: APRIL, renewsAt: MAY }),
    ],
    cancellation: [
      lemonSqueezySubscription('subscription_cancelled', {
        ...of,
        at: ANNOUNCED,
        status: 'cancelled',
        renewsAt: MAY,
        endsAt: MAY,
      }),
    ],
    end: [
      lemonSqueezySubscription('subscription_expired', {
        ...of,
        at: MAY,
        status: 'expired',
        renewsAt: MAY,
        endsAt: MAY,
      }),
    ],
    refund: [
      lemonSqueezyInvoice('subscription_payment_refunded', {
        invoiceId: 6,
        ...of,
        at: REFUNDED,
        refunded: 1_000,
      }),
    ],
  });

  const canceled = { state: 'canceled', next: MAY, lastDay: new Date(MAY.getTime() - DAY_MS) };
  follow('FastSpring', {
    path: '/api/v1/webhooks/fastspring',
    sign: (body) => ({
      'x-fs-signature': createHmac('sha256', FASTSPRING_SECRET).update(body).digest('base64'),
    }),
    checkoutId: 'fsord_1',
    purchase: together(
      fastSpringOrder({ items: [{ subtotal: 9.99, subscription: { next: APRIL } }] }),
      fastSpringSubscription('activated', { next: APRIL }),
    ),
    renewal: together(fastSpringCharge({ at: APRIL, next: MAY })),
    cancellation: together(fastSpringSubscription('canceled', { ...canceled, at: ANNOUNCED })),
    end: together(
      fastSpringSubscription('deactivated', { state: 'deactivated', end: MAY, at: MAY }),
    ),
    refund: together(
      fastSpringReturn({
        at: REFUNDED,
        orderId: 'fsord_2',
        total: 9.99,
        items: [{ product: 'monthly', subtotal: 9.99, subscriptionId: 'fssub_1' }],
      }),
    ),
  });

  const monthly = {
    subscription_id: 'sub-1',
    lines: [{ price_id: 'monthly', cycle: { interval: 'month' } }],
  };
  const running = { ...monthly, transaction_id: 'order-1', status: 'active' };
  const change = { action: 'cancel', effective_at: MAY.toISOString() };
  follow('Standard Webhooks', {
    path: '/api/v1/webhooks/standard',
    sign: signAs(STANDARD_SECRET),
    checkoutId: 'order-1',
    purchase: [
      standardEvent('purchase.completed', {
        ...monthly,
        transaction_id: 'order-1',
        ...period(FIRST),
        total: 1_000,
      }),
      standardEvent('subscription.created', { ...running, ...period(FIRST) }),
    ],
    renewal: [
      standardEvent('subscription.updated', { ...running, ...period(SECOND) }, APRIL),
      standardEvent(
        'purchase.renewed',
        { ...monthly, transaction_id: 'order-2', ...period(SECOND), total: 1_000 },
        APRIL,
      ),
    ],
    cancellation: [
      standardEvent(
        'subscription.updated',
        { ...running, ...period(SECOND), scheduled_change: change },
        ANNOUNCED,
      ),
    ],
    end: [standardEvent('subscription.canceled', { ...running, status: 'canceled' }, MAY)],
    refund: [
      standardEvent(
        'payment.refunded',
        { refund_id: 'refund-1', transaction_id: 'order-2', full: true },
        REFUNDED,
      ),
    ],
  });
});
