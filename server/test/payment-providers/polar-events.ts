/** Test webhooks of Polar, with the fields that its events have. */
import { createHmac } from 'node:crypto';

import { DAY_MS, TEST_START } from '../test-clock.ts';

/** An event before serialization to JSON. Its id is a header. */
export interface PolarTestEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface PolarOptions {
  readonly at?: Date;
  /** Replaces fields of the object. */
  readonly object?: Readonly<Record<string, unknown>>;
}

export interface PolarOrderOptions extends PolarOptions {
  readonly orderId?: string;
  readonly subscriptionId?: string | null;
  /** Default: `purchase`, or `subscription_create` of a subscription. */
  readonly reason?: string;
  readonly status?: string;
  readonly total?: number;
  readonly refunded?: number;
  readonly seats?: number | null;
  readonly email?: string;
}

export interface PolarSubscriptionOptions extends PolarOptions {
  readonly subscriptionId?: string;
  readonly status?: string;
  readonly startsAt?: Date;
  readonly endsAt?: Date;
  readonly seats?: number | null;
  readonly productId?: string;
}

export const POLAR_ORDER = 'd1e2f3a4-0000-4000-8000-000000000001';
export const POLAR_SUBSCRIPTION = 'c1e2f3a4-0000-4000-8000-000000000002';
export const POLAR_PRODUCT = 'b1e2f3a4-0000-4000-8000-000000000003';
export const POLAR_CHECKOUT = 'a1e2f3a4-0000-4000-8000-000000000004';
const CUSTOMER_ID = '91e2f3a4-0000-4000-8000-000000000005';

const MONTH_LATER = new Date(TEST_START.getTime() + 31 * DAY_MS);

/** `order.paid`, `order.updated` or `order.refunded`. */
export function polarOrder(type: string, options: PolarOrderOptions = {}): PolarTestEvent {
  const { at = TEST_START, subscriptionId = null, total = 1_190, refunded = 0 } = options;
  const usualReason = subscriptionId === null ? 'purchase' : 'subscription_create';
  return createEvent(type, options, {
    id: options.orderId ?? POLAR_ORDER,
    created_at: at.toISOString(),
    modified_at: null,
    status: options.status ?? (refunded === 0 ? 'paid' : 'partially_refunded'),
    paid: true,
    subtotal_amount: total - 190,
    net_amount: total - 190,
    tax_amount: 190,
    total_amount: total,
    refunded_amount: refunded,
    refunded_tax_amount: 0,
    currency: 'eur',
    billing_reason: options.reason ?? usualReason,
    billing_address: { country: 'AT', city: 'Vienna' },
    customer_id: CUSTOMER_ID,
    product_id: POLAR_PRODUCT,
    discount_id: null,
    subscription_id: subscriptionId,
    checkout_id: POLAR_CHECKOUT,
    seats: options.seats ?? null,
    customer: { id: CUSTOMER_ID, email: options.email ?? 'ann@example.com', name: 'Ann Example' },
    product: { id: POLAR_PRODUCT, name: 'Studio', is_recurring: subscriptionId !== null },
    subscription:
      subscriptionId === null
        ? null
        : { id: subscriptionId, recurring_interval: 'month', recurring_interval_count: 1 },
  });
}

/** `subscription.created`, `.active`, `.updated`, `.canceled`, `.revoked` and so on. */
export function polarSubscription(
  type: string,
  options: PolarSubscriptionOptions = {},
): PolarTestEvent {
  const { startsAt = TEST_START, endsAt = MONTH_LATER, productId = POLAR_PRODUCT } = options;
  return createEvent(type, options, {
    id: options.subscriptionId ?? POLAR_SUBSCRIPTION,
    created_at: TEST_START.toISOString(),
    modified_at: null,
    amount: 1_000,
    currency: 'eur',
    recurring_interval: 'month',
    recurring_interval_count: 1,
    status: options.status ?? 'active',
    current_period_start: startsAt.toISOString(),
    current_period_end: endsAt.toISOString(),
    trial_start: null,
    trial_end: null,
    cancel_at_period_end: false,
    canceled_at: null,
    ends_at: null,
    ended_at: null,
    customer_id: CUSTOMER_ID,
    product_id: productId,
    checkout_id: POLAR_CHECKOUT,
    seats: options.seats ?? null,
    customer: { id: CUSTOMER_ID, email: 'ann@example.com', name: 'Ann Example' },
    product: { id: productId, name: 'Studio', is_recurring: true },
  });
}

/** `customer.created` or `customer.updated`. */
export function polarCustomer(
  type: string,
  email: string,
  options: PolarOptions = {},
): PolarTestEvent {
  return createEvent(type, options, { id: CUSTOMER_ID, email, name: 'Ann Example' });
}

/** The headers and the signed body of an event's request: the key is the text of the secret. */
export function polarDelivery(
  event: unknown,
  { secret, at, id }: { readonly secret: string; readonly at: Date; readonly id: string },
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const body = JSON.stringify(event);
  const time = String(Math.floor(at.getTime() / 1000));
  const v1 = createHmac('sha256', secret).update(`${id}.${time}.${body}`).digest('base64');
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': time,
      'webhook-signature': `v1,${v1}`,
    },
    body,
  };
}

function createEvent(
  type: string,
  { at = TEST_START, object = {} }: PolarOptions,
  data: Readonly<Record<string, unknown>>,
): PolarTestEvent {
  return { type, timestamp: at.toISOString(), data: { ...data, ...object } };
}
