/**
 * Webhooks of Stripe for tests: one builder for each kind of event, with the fields that the service reads, and the
 * signature. `object` overrides any field of the event's object. `apiVersion` selects the schema before or since
 * 2025-03-31 (Basil).
 */
import { createHmac } from 'node:crypto';

import { DAY_MS, TEST_START } from '../test-clock.ts';

/** An event before serialization to JSON. */
export interface StripeTestEvent {
  readonly id: string;
  readonly object: 'event';
  readonly type: string;
  readonly created: number;
  readonly data: { readonly object: Readonly<Record<string, unknown>> };
}

/** Options of all events. */
export interface StripeEventOptions {
  /** Default: a new one each time. */
  readonly eventId?: string;
  /** Default: the tests' start. */
  readonly at?: Date;
  readonly customerId?: string | null;
  /** Overrides fields of the event's object; `undefined` removes a field. */
  readonly object?: Readonly<Record<string, unknown>>;
}

/** A line of an invoice or subscription. */
export interface StripeLine {
  readonly itemId?: string;
  readonly priceId: string;
  readonly quantity?: number;
  /** Default: a month; null for a one-time line. */
  readonly interval?: 'day' | 'week' | 'month' | 'year' | null;
  readonly intervalCount?: number;
  readonly proration?: boolean;
  /** In cents. Default: 1,000. */
  readonly amount?: number;
}

export interface StripePeriod {
  readonly startsAt: Date;
  readonly endsAt: Date;
}

export type StripeApiVersion = 'acacia' | 'basil';

export interface StripeCheckoutOptions extends StripeEventOptions {
  readonly checkoutId?: string;
  readonly paymentIntentId?: string | null;
  /** The subscription that the checkout starts, if any. */
  readonly subscriptionId?: string;
  readonly invoiceId?: string | null;
  readonly priceId?: string | null;
  readonly quantity?: number;
  readonly email?: string;
  readonly paymentStatus?: 'paid' | 'unpaid' | 'no_payment_required';
  readonly total?: number;
}

export interface StripeInvoiceOptions extends StripeEventOptions {
  readonly apiVersion?: StripeApiVersion;
  readonly invoiceId?: string;
  readonly subscriptionId?: string | null;
  readonly paymentIntentId?: string | null;
  /** Default: `subscription_create`. */
  readonly reason?: string;
  readonly period?: StripePeriod;
  readonly lines?: readonly StripeLine[];
  readonly email?: string;
  readonly total?: number;
}

export interface StripeSubscriptionOptions extends StripeEventOptions {
  readonly apiVersion?: StripeApiVersion;
  readonly subscriptionId?: string;
  readonly invoiceId?: string | null;
  readonly status?: string;
  readonly period?: StripePeriod;
  readonly lines?: readonly StripeLine[];
}

export interface StripeRefundOptions extends StripeEventOptions {
  readonly refundId?: string;
  readonly chargeId?: string | null;
  readonly paymentIntentId?: string | null;
  readonly amount?: number;
  readonly status?: string;
}

const MONTH: StripePeriod = {
  startsAt: TEST_START,
  endsAt: new Date(TEST_START.getTime() + 30 * DAY_MS),
};

let events = 0;

/** `checkout.session.completed`: a payment, or the start of a subscription. */
export function stripeCheckoutCompleted(options: StripeCheckoutOptions = {}): StripeTestEvent {
  const { at = TEST_START, email = 'ann@example.com', total = 1_000 } = options;
  return createEvent('checkout.session.completed', options, {
    id: options.checkoutId ?? 'cs_test_ann',
    object: 'checkout.session',
    status: 'complete',
    payment_status: options.paymentStatus ?? 'paid',
    ...(options.subscriptionId === undefined ? sellOnce(options) : beginSubscription(options)),
    customer_details: { email, name: 'Ann Example', phone: null },
    locale: 'de',
    amount_total: total,
    currency: 'eur',
    // Opened two minutes before its completion.
    created: toSeconds(at) - 120,
    livemode: true,
  });
}

function sellOnce(options: StripeCheckoutOptions): Readonly<Record<string, unknown>> {
  const priceId = orDefault(options.priceId, 'price_personal');
  const quantity = String(options.quantity ?? 1);
  return {
    mode: 'payment',
    payment_intent: orDefault(options.paymentIntentId, 'pi_ann'),
    subscription: null,
    invoice: null,
    customer: orDefault(options.customerId, null),
    metadata: priceId === null ? {} : { price_id: priceId, quantity },
  };
}

function beginSubscription(options: StripeCheckoutOptions): Readonly<Record<string, unknown>> {
  return {
    mode: 'subscription',
    payment_intent: null,
    subscription: options.subscriptionId,
    invoice: orDefault(options.invoiceId, 'in_ann'),
    customer: orDefault(options.customerId, 'cus_ann'),
    metadata: {},
  };
}

/** `invoice.paid`: the purchase of a subscription, a renewal, or a change. */
export function stripeInvoicePaid(options: StripeInvoiceOptions = {}): StripeTestEvent {
  const { at = TEST_START, apiVersion = 'basil', period = MONTH, total = 1_000 } = options;
  const subscriptionId = orDefault(options.subscriptionId, 'sub_ann');
  const paymentIntentId = orDefault(options.paymentIntentId, 'pi_ann');
  const lines = options.lines ?? [{ priceId: 'price_monthly' }];
  return createEvent('invoice.paid', options, {
    id: options.invoiceId ?? 'in_ann',
    object: 'invoice',
    status: 'paid',
    billing_reason: options.reason ?? 'subscription_create',
    customer: orDefault(options.customerId, 'cus_ann'),
    customer_email: options.email ?? 'ann@example.com',
    customer_name: 'Ann Example',
    amount_due: total,
    amount_paid: total,
    total,
    currency: 'eur',
    status_transitions: { finalized_at: toSeconds(at), paid_at: toSeconds(at) },
    lines: {
      object: 'list',
      data: lines.map((line, index) => writeInvoiceLine(line, index, period, apiVersion)),
    },
    ...(apiVersion === 'basil'
      ? {
          parent:
            subscriptionId === null
              ? null
              : {
                  type: 'subscription_details',
                  subscription_details: { subscription: subscriptionId, metadata: {} },
                },
        }
      : { subscription: subscriptionId, payment_intent: paymentIntentId, charge: 'ch_ann' }),
  });
}

/** `invoice_payment.paid`: which payment intent paid an invoice (Basil). */
export function stripeInvoicePaymentPaid(
  options: StripeEventOptions & {
    readonly invoiceId?: string;
    readonly paymentIntentId?: string;
  } = {},
): StripeTestEvent {
  return createEvent('invoice_payment.paid', options, {
    id: 'inpay_ann',
    object: 'invoice_payment',
    invoice: options.invoiceId ?? 'in_ann',
    payment: { type: 'payment_intent', payment_intent: options.paymentIntentId ?? 'pi_ann' },
    amount_paid: 1_000,
    status: 'paid',
    created: toSeconds(options.at ?? TEST_START),
  });
}

/** `customer.subscription.<change>`: a snapshot of a subscription. */
export function stripeSubscription(
  change: 'created' | 'updated' | 'deleted' | 'paused' | 'resumed',
  options: StripeSubscriptionOptions = {},
): StripeTestEvent {
  const { apiVersion = 'basil', period = MONTH } = options;
  const lines = options.lines ?? [{ priceId: 'price_monthly' }];
  const span = {
    current_period_start: toSeconds(period.startsAt),
    current_period_end: toSeconds(period.endsAt),
  };
  return createEvent(`customer.subscription.${change}`, options, {
    id: options.subscriptionId ?? 'sub_ann',
    object: 'subscription',
    status: options.status ?? (change === 'deleted' ? 'canceled' : 'active'),
    customer: orDefault(options.customerId, 'cus_ann'),
    latest_invoice: orDefault(options.invoiceId, 'in_ann'),
    collection_method: 'charge_automatically',
    cancel_at_period_end: false,
    cancel_at: null,
    canceled_at: null,
    ended_at: change === 'deleted' ? toSeconds(options.at ?? TEST_START) : null,
    pause_collection: null,
    ...(apiVersion === 'acacia' ? span : {}),
    items: {
      object: 'list',
      data: lines.map((line, index) => ({
        id: line.itemId ?? `si_${index}`,
        object: 'subscription_item',
        price: writePrice(line),
        quantity: line.quantity ?? 1,
        ...(apiVersion === 'basil' ? span : {}),
      })),
    },
  });
}

/** `refund.<change>`: one refund. */
export function stripeRefund(
  change: 'created' | 'updated' | 'failed',
  options: StripeRefundOptions = {},
): StripeTestEvent {
  return createEvent(`refund.${change}`, options, {
    id: options.refundId ?? 're_ann',
    object: 'refund',
    amount: options.amount ?? 1_000,
    currency: 'eur',
    charge: orDefault(options.chargeId, 'ch_ann'),
    payment_intent: orDefault(options.paymentIntentId, 'pi_ann'),
    status: options.status ?? (change === 'failed' ? 'failed' : 'succeeded'),
  });
}

/** `charge.refunded`: the refunds of a charge. */
export function stripeChargeRefunded(options: StripeRefundOptions = {}): StripeTestEvent {
  return createEvent('charge.refunded', options, {
    id: options.chargeId ?? 'ch_ann',
    object: 'charge',
    amount: 1_000,
    currency: 'eur',
    amount_refunded: options.amount ?? 1_000,
    refunded: (options.amount ?? 1_000) === 1_000,
    payment_intent: orDefault(options.paymentIntentId, 'pi_ann'),
  });
}

/** `charge.dispute.<change>`: a snapshot of a dispute. */
export function stripeDispute(
  change: 'created' | 'updated' | 'closed' | 'funds_withdrawn' | 'funds_reinstated',
  options: StripeEventOptions & {
    readonly disputeId?: string;
    readonly paymentIntentId?: string | null;
    readonly status?: string;
  } = {},
): StripeTestEvent {
  return createEvent(`charge.dispute.${change}`, options, {
    id: options.disputeId ?? 'du_ann',
    object: 'dispute',
    amount: 1_000,
    currency: 'eur',
    charge: 'ch_ann',
    payment_intent: orDefault(options.paymentIntentId, 'pi_ann'),
    status: options.status ?? 'needs_response',
  });
}

/** `customer.<change>`: the details of a customer. */
export function stripeCustomer(
  change: 'created' | 'updated',
  options: StripeEventOptions & { readonly email?: string | null } = {},
): StripeTestEvent {
  return createEvent(`customer.${change}`, options, {
    id: options.customerId ?? 'cus_ann',
    object: 'customer',
    email: orDefault(options.email, 'ann@example.com'),
    name: 'Ann Example',
    preferred_locales: ['fr', 'en'],
  });
}

/** The headers and the signed body of an event's request. */
export function stripeDelivery(
  event: unknown,
  { secret, at }: { readonly secret: string; readonly at: Date },
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const body = JSON.stringify(event);
  const time = toSeconds(at);
  const v1 = createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex');
  return {
    headers: { 'content-type': 'application/json', 'stripe-signature': `t=${time},v1=${v1}` },
    body,
  };
}

function createEvent(
  type: string,
  { eventId, at = TEST_START, object = {} }: StripeEventOptions,
  usual: Readonly<Record<string, unknown>>,
): StripeTestEvent {
  events += 1;
  return {
    id: eventId ?? `evt_test_${String(events).padStart(8, '0')}`,
    object: 'event',
    type,
    created: toSeconds(at),
    data: { object: { ...usual, ...object } },
  };
}

function writeInvoiceLine(
  line: StripeLine,
  index: number,
  { startsAt, endsAt }: StripePeriod,
  apiVersion: StripeApiVersion,
): Readonly<Record<string, unknown>> {
  const isRecurring = line.interval !== null;
  const itemId = line.itemId ?? `si_${index}`;
  const proration = line.proration ?? false;
  const common = {
    id: `il_${index}`,
    object: 'line_item',
    amount: line.amount ?? 1_000,
    quantity: line.quantity ?? 1,
    period: { start: toSeconds(startsAt), end: toSeconds(endsAt) },
  };
  if (apiVersion === 'acacia') {
    const type = isRecurring ? 'subscription' : 'invoiceitem';
    const subscriptionItem = isRecurring ? { subscription_item: itemId } : {};
    return { ...common, type, proration, price: writePrice(line), ...subscriptionItem };
  }
  const kind = isRecurring ? 'subscription_item_details' : 'invoice_item_details';
  const details = isRecurring ? { subscription_item: itemId } : { invoice_item: `ii_${index}` };
  return {
    ...common,
    parent: { type: kind, [kind]: { ...details, proration } },
    pricing: {
      type: 'price_details',
      price_details: { price: line.priceId, product: 'prod_ann' },
      unit_amount_decimal: '1000',
    },
  };
}

function writePrice({
  priceId,
  interval = 'month',
  intervalCount = 1,
}: StripeLine): Readonly<Record<string, unknown>> {
  return {
    id: priceId,
    object: 'price',
    type: interval === null ? 'one_time' : 'recurring',
    recurring: interval === null ? null : { interval, interval_count: intervalCount },
  };
}

function orDefault<Value, Default>(value: Value | undefined, usual: Default): Value | Default {
  return value === undefined ? usual : value;
}

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
