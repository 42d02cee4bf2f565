/** Buyers with a running subscription at each provider: in its API, and with the events of its renewal. */
import { randomUUID } from 'node:crypto';

import { TEST_WEBHOOK_SECRETS } from '../../../test/harness.ts';
import {
  answerFastSpring,
  answerLemonSqueezy,
  answerPaddle,
  answerPolar,
  answerStripe,
  type LemonSqueezyResource,
} from '../../../test/payment-providers/api-stand-ins.ts';
import {
  fastSpringCharge,
  fastSpringDelivery,
  fastSpringSubscription,
} from '../../../test/payment-providers/fastspring-events.ts';
import {
  lemonSqueezyDelivery,
  lemonSqueezyInvoice,
  lemonSqueezyOrder,
  lemonSqueezySubscription,
} from '../../../test/payment-providers/lemon-squeezy-events.ts';
import {
  PADDLE_MONTH,
  paddleDelivery,
  paddleSubscription,
  paddleTransactionCompleted,
} from '../../../test/payment-providers/paddle-events.ts';
import {
  polarDelivery,
  polarOrder,
  polarSubscription,
} from '../../../test/payment-providers/polar-events.ts';
import {
  stripeDelivery,
  stripeInvoicePaid,
  stripeSubscription,
} from '../../../test/payment-providers/stripe-events.ts';
import type { StubAnswer } from '../../../test/payment-providers/paddle-api-stub.ts';
import { DAY_MS, TEST_START } from '../../../test/test-clock.ts';
import type { ApiSource } from './provider-api/api-sources.ts';

/** A product with a price at each provider. */
export const CATALOG = `
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
    prices: { paddle: [pri_team], stripe: [price_monthly], lemonsqueezy: ["17"], fastspring: [team], polar: [b1e2f3a4-0000-4000-8000-000000000003] }
`;

/** When the subscriptions are renewed. */
export const APRIL = new Date('2027-04-01T12:00:00.000Z');
/** When they are renewed next. */
export const MAY = new Date('2027-05-01T12:00:00.000Z');
const FIRST = { startsAt: TEST_START, endsAt: APRIL };
const SECOND = { startsAt: APRIL, endsAt: MAY };

/** A subscription of a buyer at a provider. */
export interface Shop {
  readonly source: ApiSource;
  readonly email: string;
  readonly answer: StubAnswer;
  readonly path: string;
  readonly renewal: readonly unknown[];
  readonly sign: (event: unknown) => { readonly body: string; readonly headers: object };
}

const authorization = 'Bearer key_of_the_account';

export function stripeShop(name: string): Shop {
  const email = `${name}@stripe.example`;
  const [subscriptionId, customerId] = [`sub_${name}`, `cus_${name}`];
  const snapshot = stripeSubscription('updated', {
    subscriptionId,
    customerId,
    period: FIRST,
    object: { livemode: true },
  });
  const renewal = {
    subscriptionId,
    customerId,
    email,
    invoiceId: `in_${name}`,
    paymentIntentId: `pi_${name}`,
    period: SECOND,
    at: APRIL,
  };
  return {
    source: 'stripe',
    email,
    answer: answerStripe({
      authorization,
      subscriptions: [{ ...snapshot.data.object, id: subscriptionId }],
      customers: [{ id: customerId, object: 'customer', email, name: 'Ann' }],
    }),
    path: '/api/v1/webhooks/stripe',
    renewal: [
      stripeSubscription('updated', { ...renewal, object: { livemode: true } }),
      stripeInvoicePaid({ ...renewal, reason: 'subscription_cycle' }),
    ],
    sign: (event) =>
      stripeDelivery(event, { secret: TEST_WEBHOOK_SECRETS.stripe[0] ?? '', at: APRIL }),
  };
}

function paddleShop(name: string): Shop {
  const email = `${name}@paddle.example`;
  const [subscriptionId, customerId] = [`sub_${name}`, `ctm_${name}`];
  const lines = [{ priceId: 'pri_team', cycle: PADDLE_MONTH }];
  const ids = { subscriptionId, customerId, lines };
  const { data } = paddleSubscription('updated', { ...ids, transactionId: null, period: FIRST });
  const renewed = { ...ids, period: SECOND, occurredAt: APRIL };
  const customData = { email };
  return {
    source: 'paddle',
    email,
    answer: answerPaddle({
      authorization,
      subscriptions: [{ ...data, id: subscriptionId }],
      customers: [{ id: customerId, email, name: 'Ann', locale: 'en' }],
    }),
    path: '/api/v1/webhooks/billing',
    renewal: [
      paddleSubscription('updated', { ...renewed, transactionId: null, customData }),
      paddleTransactionCompleted({
        ...renewed,
        transactionId: `txn_${name}`,
        origin: 'subscription_recurring',
        customData,
      }),
    ],
    sign: (event) =>
      paddleDelivery(event, { secret: TEST_WEBHOOK_SECRETS.paddle[0] ?? '', at: APRIL }),
  };
}

let lemonSqueezyIds = 100;

/** A shop with the order that started the subscription, and a later event. */
interface LemonSqueezyShop extends Shop {
  readonly order: unknown;
  readonly later: unknown;
}

export function lemonSqueezyShop(name: string, keys: readonly string[]): LemonSqueezyShop {
  const email = `${name}@lemonsqueezy.example`;
  lemonSqueezyIds += 1;
  const subscriptionId = lemonSqueezyIds;
  const attributes = { test_mode: false };
  const ids = { subscriptionId, orderId: subscriptionId, variantId: 17, email, attributes };
  const { data } = lemonSqueezySubscription('subscription_updated', { ...ids, renewsAt: APRIL });
  const licenseKeys = keys.map((licenseKey, index): LemonSqueezyResource => {
    const id = `${subscriptionId}${index}`;
    const order = { order_id: subscriptionId, order_item_id: subscriptionId * 10 };
    const limits = { activation_limit: 5, disabled: 0, status: 'active', expires_at: null };
    const user = { user_email: email, user_name: 'Ann', test_mode: false };
    return {
      type: 'license-keys',
      id,
      attributes: { ...order, ...limits, ...user, key: licenseKey },
    };
  });
  const lists = {
    subscriptions: [data],
    'license-keys': licenseKeys,
    'license-key-instances': [],
    'subscription-invoices': [],
  };
  return {
    source: 'lemonsqueezy',
    email,
    answer: answerLemonSqueezy({ authorization, lists }),
    path: '/api/v1/webhooks/lemonsqueezy',
    order: lemonSqueezyOrder('order_created', { ...ids, identifier: randomUUID() }),
    later: lemonSqueezySubscription('subscription_updated', {
      ...ids,
      renewsAt: MAY,
      at: new Date(APRIL.getTime() + DAY_MS),
    }),
    renewal: [
      lemonSqueezyInvoice('subscription_payment_success', {
        ...ids,
        invoiceId: subscriptionId,
        at: APRIL,
      }),
      lemonSqueezySubscription('subscription_updated', { ...ids, renewsAt: MAY, at: APRIL }),
    ],
    sign: (event) =>
      lemonSqueezyDelivery(event, { secret: TEST_WEBHOOK_SECRETS.lemonsqueezy[0] ?? '' }),
  };
}

function fastSpringShop(name: string): Shop {
  const email = `${name}@fastspring.example`;
  const ids = { subscriptionId: `fssub_${name}`, product: 'team', email };
  const { data } = fastSpringSubscription('updated', { ...ids, next: APRIL });
  const renewed = { ...ids, next: MAY, at: APRIL };
  return {
    source: 'fastspring',
    email,
    answer: answerFastSpring({
      authorization: `Basic ${Buffer.from('key_of_the_account').toString('base64')}`,
      subscriptions: [{ ...data, id: ids.subscriptionId }],
      accounts: [],
    }),
    path: '/api/v1/webhooks/fastspring',
    renewal: [
      fastSpringCharge({ ...renewed, orderId: `fsord_${name}` }),
      fastSpringSubscription('updated', renewed),
    ],
    sign: (event) =>
      fastSpringDelivery([event], { secret: TEST_WEBHOOK_SECRETS.fastspring[0] ?? '' }),
  };
}

function polarShop(name: string): Shop {
  const email = `${name}@polar.example`;
  const subscriptionId = randomUUID();
  const customerId = randomUUID();
  const customer = { id: customerId, email, name: 'Ann' };
  const object = { customer, customer_id: customerId, checkout_id: randomUUID() };
  const ids = { subscriptionId, object };
  const { data } = polarSubscription('subscription.updated', {
    ...ids,
    startsAt: TEST_START,
    endsAt: APRIL,
  });
  return {
    source: 'polar',
    email,
    answer: answerPolar({
      authorization,
      lists: { subscriptions: [{ ...data, id: subscriptionId }], 'license-keys': [], products: [] },
    }),
    path: '/api/v1/webhooks/polar',
    renewal: [
      polarSubscription('subscription.cycled', { ...ids, at: APRIL, startsAt: APRIL, endsAt: MAY }),
      polarOrder('order.paid', {
        ...ids,
        orderId: randomUUID(),
        reason: 'subscription_cycle',
        at: APRIL,
        email,
      }),
    ],
    sign: (event) =>
      polarDelivery(event, {
        secret: TEST_WEBHOOK_SECRETS.polar[0] ?? '',
        at: APRIL,
        id: randomUUID(),
      }),
  };
}

/** Opens a shop by the name of its buyer, for each provider. */
export const SHOPS: Readonly<Record<string, (name: string) => Shop>> = {
  Stripe: stripeShop,
  Paddle: paddleShop,
  Polar: polarShop,
  FastSpring: fastSpringShop,
  'Lemon Squeezy': (name) => lemonSqueezyShop(name, []),
};
