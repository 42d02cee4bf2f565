/**
 * Webhooks of Lemon Squeezy for tests: one builder for each kind of object, with the fields that the service reads, and
 * the signature. `attributes` overrides any field of the object.
 */
import { createHmac } from 'node:crypto';

import { DAY_MS, TEST_START } from '../test-clock.ts';

/** An event before serialization to JSON. */
export interface LemonSqueezyTestEvent {
  readonly meta: Readonly<Record<string, unknown>>;
  readonly data: {
    readonly type: string;
    readonly id: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  };
}

/** Options of all objects. */
export interface LemonSqueezyOptions {
  /** The last change of the object. Default: the start of the tests. */
  readonly at?: Date;
  /** The creation of the object. Default: its last change. */
  readonly createdAt?: Date;
  readonly email?: string;
  /** Overrides attributes of the object; `undefined` removes a field. */
  readonly attributes?: Readonly<Record<string, unknown>>;
}

export interface LemonSqueezyOrderOptions extends LemonSqueezyOptions {
  readonly orderId?: number;
  readonly identifier?: string;
  readonly variantId?: number;
  readonly quantity?: number;
  /** In cents. Default: 1,000. */
  readonly total?: number;
  /** In cents. */
  readonly refunded?: number;
}

export interface LemonSqueezySubscriptionOptions extends LemonSqueezyOptions {
  readonly subscriptionId?: number;
  readonly orderId?: number;
  readonly variantId?: number;
  readonly quantity?: number;
  readonly status?: string;
  readonly renewsAt?: Date | null;
  readonly endsAt?: Date | null;
}

export interface LemonSqueezyInvoiceOptions extends LemonSqueezyOptions {
  readonly invoiceId?: number;
  readonly subscriptionId?: number;
  /** Default: `renewal`. */
  readonly reason?: string;
  readonly total?: number;
  readonly refunded?: number;
}

/** `order_created` or `order_refunded`. */
export function lemonSqueezyOrder(
  name: 'order_created' | 'order_refunded',
  options: LemonSqueezyOrderOptions = {},
): LemonSqueezyTestEvent {
  const { orderId = 1, total = 1_000, refunded = 0, variantId = 17 } = options;
  return createEvent(name, 'orders', orderId, options, {
    identifier: options.identifier ?? '104e18a2-d755-4d4b-80c4-a6c1dcbe1c10',
    order_number: 5,
    customer_id: 3,
    currency: 'EUR',
    total,
    ...writeRefunded(total, refunded),
    first_order_item: {
      id: orderId * 10,
      order_id: orderId,
      product_id: 4,
      variant_id: variantId,
      price_id: 8,
      quantity: options.quantity ?? 1,
      price: total,
    },
  });
}

/** `subscription_created`, `_updated`, `_cancelled`, `_resumed`, `_expired`, `_paused`, `_unpaused`. */
export function lemonSqueezySubscription(
  name: `subscription_${'created' | 'updated' | 'cancelled' | 'resumed' | 'expired' | 'paused' | 'unpaused'}`,
  options: LemonSqueezySubscriptionOptions = {},
): LemonSqueezyTestEvent {
  const { orderId = 1, subscriptionId = 1, status = 'active' } = options;
  const renewsAt =
    options.renewsAt === undefined
      ? new Date(TEST_START.getTime() + 30 * DAY_MS)
      : options.renewsAt;
  return createEvent(name, 'subscriptions', subscriptionId, options, {
    order_id: orderId,
    order_item_id: orderId * 10,
    customer_id: 3,
    product_id: 4,
    variant_id: options.variantId ?? 17,
    status,
    cancelled: status === 'cancelled',
    pause: null,
    trial_ends_at: status === 'on_trial' ? writeTime(renewsAt) : null,
    renews_at: writeTime(renewsAt),
    ends_at: writeTime(options.endsAt ?? null),
    first_subscription_item: {
      id: 6,
      subscription_id: subscriptionId,
      price_id: 8,
      quantity: options.quantity ?? 1,
    },
  });
}

/** `subscription_payment_success` or `subscription_payment_refunded`. */
export function lemonSqueezyInvoice(
  name: 'subscription_payment_success' | 'subscription_payment_refunded',
  options: LemonSqueezyInvoiceOptions = {},
): LemonSqueezyTestEvent {
  const { total = 1_000, refunded = 0 } = options;
  // An invoice is created with its payment, long after its subscription.
  const created = { ...options, createdAt: options.at ?? TEST_START };
  return createEvent(name, 'subscription-invoices', options.invoiceId ?? 1, created, {
    subscription_id: options.subscriptionId ?? 1,
    customer_id: 3,
    billing_reason: options.reason ?? 'renewal',
    currency: 'EUR',
    total,
    ...writeRefunded(total, refunded),
  });
}

/** The headers and the signed body of an event's request. */
export function lemonSqueezyDelivery(
  event: unknown,
  { secret }: { readonly secret: string },
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const body = JSON.stringify(event);
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return {
    headers: { 'content-type': 'application/json', 'x-signature': signature },
    body,
  };
}

function createEvent(
  name: string,
  type: string,
  id: number,
  { at = TEST_START, createdAt = at, email, attributes = {} }: LemonSqueezyOptions,
  usual: Readonly<Record<string, unknown>>,
): LemonSqueezyTestEvent {
  return {
    meta: { event_name: name, test_mode: false, custom_data: {} },
    data: {
      type,
      id: String(id),
      attributes: {
        store_id: 2,
        user_name: 'Ann Example',
        user_email: email ?? 'ann@example.com',
        ...usual,
        created_at: writeTime(createdAt),
        updated_at: writeTime(at),
        test_mode: false,
        ...attributes,
      },
    },
  };
}

function writeRefunded(total: number, refunded: number): Readonly<Record<string, unknown>> {
  const part = refunded >= total ? 'refunded' : 'partial_refund';
  return {
    status: refunded === 0 ? 'paid' : part,
    refunded: refunded >= total,
    refunded_amount: refunded,
  };
}

/** Lemon Squeezy writes microseconds. */
function writeTime(time: Date | null): string | null {
  return time === null ? null : time.toISOString().replace('Z', '000Z');
}
