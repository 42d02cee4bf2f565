/** The life of a subscription at each provider, signed by the provider's library if there is one. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';

import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../harness.ts';
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
import { testCatalog } from '../test-catalog.ts';
import { DAY_MS, TEST_START } from '../test-clock.ts';
import { readBody } from './bodies.ts';

const CATALOG = `
key_prefix: LK
trial: { product: team, features: [] }
products:
  - id: team
    name: Team
    product_type: team
    tier: team
    features: []
    max_activations: 5
    offline_days: 14
    prices: { stripe: [price_monthly], lemonsqueezy: ["17"], fastspring: [monthly], standard: [monthly] }
`;

const service = await startTestService({ catalog: testCatalog(CATALOG) });
const [STRIPE_SECRET = ''] = TEST_WEBHOOK_SECRETS.stripe;
const [LEMON_SQUEEZY_SECRET = ''] = TEST_WEBHOOK_SECRETS.lemonsqueezy;
const [FASTSPRING_SECRET = ''] = TEST_WEBHOOK_SECRETS.fastspring;
const [STANDARD_SECRET = ''] = TEST_WEBHOOK_SECRETS.standard;

const APRIL = new Date('2027-04-01T12:00:00.000Z');
const MAY = new Date('2027-05-01T12:00:00.000Z');
const FIRST = { startsAt: TEST_START, endsAt: APRIL };
const SECOND = { startsAt: APRIL, endsAt: MAY };
/** The times of the cancellation and of the refund. */
const ANNOUNCED = new Date(APRIL.getTime() + 5 * DAY_MS);
const REFUNDED = new Date(MAY.getTime() + 2 * DAY_MS);

/** A delivery of FastSpring with several events. */
const together = (...events: readonly unknown[]) => [{ events }];

type Sign = (body: string, at: Date) => Record<string, string>;

/** The events of a provider for each step. */
interface Story {
  readonly path: string;
  readonly sign: Sign;
  readonly checkoutId: string;
  readonly purchase: readonly unknown[];
  readonly renewal: readonly unknown[];
  readonly cancellation: readonly unknown[];
  readonly end: readonly unknown[];
  readonly refund: readonly unknown[];
}

/** Delivers a step at its time, and returns the license as the check of the transaction shows it. */
async function deliverStep(
  { path, sign, checkoutId }: Story,
  at: Date,
  events: readonly unknown[],
) {
  service.clock.set(at);
  for (const event of events) {
    const body = JSON.stringify(event);
    const answer = await service.post(path, body, sign(body, at));
    assert.equal(answer.status, 200, answer.text);
    assert.ok(['processed', 'ignored'].includes(String(readBody(answer.body)['status'])));
  }
  const checked = await service.get(`/api/v1/licenses/check/${checkoutId}`);
  const { licenses, status, expires_at: expiresAt, license_key: key } = readBody(checked.body);
  assert.ok(Array.isArray(licenses) && licenses.length === 1, checked.text);
  return [status, expiresAt, key !== null];
}

function follow(provider: string, story: Story): void {
  test(`${provider}: purchase, renewal, cancellation, refund`, async () => {
    const [april, may] = [APRIL.toISOString(), MAY.toISOString()];
    assert.deepEqual(await deliverStep(story, TEST_START, story.purchase), ['active', april, true]);
    assert.deepEqual(await deliverStep(story, APRIL, story.renewal), ['active', may, false]);
    assert.deepEqual(await deliverStep(story, ANNOUNCED, story.cancellation), [
      'active',
      may,
      false,
    ]);
    assert.deepEqual(await deliverStep(story, MAY, story.end), ['canceled', may, false]);
    assert.deepEqual(await deliverStep(story, REFUNDED, story.refund), ['refunded', may, false]);
  });

  test(`${provider}: the signature of another body changes nothing`, async () => {
    await deliverStep(story, TEST_START, story.purchase);
    const body = JSON.stringify(story.refund[0]);
    const answer = await service.post(story.path, body, story.sign(`${body} `, TEST_START));
    assert.equal(answer.status, 401);
    const april = APRIL.toISOString();
    assert.deepEqual(await deliverStep(story, TEST_START, []), ['active', april, true]);
  });
}

beforeEach(async () => {
  service.clock.set(TEST_START);
  await service.pool.query(
    'truncate billing_events, billing_payments, billing_subscriptions, billing_adjustments, billing_aliases, billing_licenses, license_transactions',
  );
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

  const period = ({ startsAt, endsAt }: typeof FIRST) => ({
    period: { starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() },
  });
  const monthly = {
    subscription_id: 'sub-1',
    lines: [{ price_id: 'monthly', cycle: { interval: 'month' } }],
  };
  const running = { ...monthly, transaction_id: 'order-1', status: 'active' };
  const change = { action: 'cancel', effective_at: MAY.toISOString() };
  let deliveries = 0;
  follow('Standard Webhooks', {
    path: '/api/v1/webhooks/standard',
    sign: (body, at) => {
      const id = `msg_${(deliveries += 1)}`;
      return {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(STANDARD_SECRET).sign(id, at, body),
      };
    },
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
