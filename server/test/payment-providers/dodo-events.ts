/** Test webhooks of Dodo Payments, with the fields that its events have. They are signed as Standard Webhooks. */
import { DAY_MS, TEST_START } from '../test-clock.ts';

/** An event before serialization to JSON. Its id is a header. */
export interface DodoTestEvent {
  readonly business_id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface DodoOptions {
  readonly at?: Date;
  /** Replaces fields of the object. */
  readonly object?: Readonly<Record<string, unknown>>;
}

export interface DodoPaymentOptions extends DodoOptions {
  readonly paymentId?: string;
  readonly subscriptionId?: string | null;
  readonly total?: number;
  readonly quantity?: number;
  readonly email?: string;
}

export interface DodoSubscriptionOptions extends DodoOptions {
  readonly status?: string;
  readonly startsAt?: Date;
  readonly endsAt?: Date;
  readonly quantity?: number;
  readonly productId?: string;
  readonly trialDays?: number;
}

export const DODO_SUBSCRIPTION = 'sub_Iuaq622bbmmfOGrVTqdXv';
export const DODO_PRODUCT = 'pdt_R8AWMPiV2RyJElcCKvAID';

const MONTH_LATER = new Date(TEST_START.getTime() + 31 * DAY_MS);

function writeCustomer(email = 'ann@example.com') {
  return { customer_id: 'cus_8VbC6JDZzPEqfB', email, name: 'Ann Example' };
}

/** `payment.succeeded` and other payments. */
export function dodoPayment(type: string, options: DodoPaymentOptions = {}): DodoTestEvent {
  const { at = TEST_START, subscriptionId = null, total = 1_190, quantity = 1 } = options;
  return createEvent(type, options, {
    payload_type: 'Payment',
    payment_id: options.paymentId ?? 'pay_ann',
    business_id: 'bus_1',
    status: 'succeeded',
    total_amount: total,
    tax: 190,
    currency: 'EUR',
    payment_method: 'card',
    created_at: at.toISOString(),
    updated_at: null,
    subscription_id: subscriptionId,
    checkout_session_id: null,
    is_update_payment_method: false,
    product_cart: subscriptionId === null ? [{ product_id: DODO_PRODUCT, quantity }] : null,
    customer: writeCustomer(options.email),
    billing: { country: 'AT', city: 'Vienna' },
    metadata: {},
    refunds: [],
    disputes: [],
  });
}

/** `subscription.active`, `.renewed`, `.on_hold`, `.cancelled` and so on. */
export function dodoSubscription(
  type: string,
  options: DodoSubscriptionOptions = {},
): DodoTestEvent {
  const { startsAt = TEST_START, endsAt = MONTH_LATER } = options;
  return createEvent(type, options, {
    payload_type: 'Subscription',
    subscription_id: DODO_SUBSCRIPTION,
    product_id: options.productId ?? DODO_PRODUCT,
    quantity: options.quantity ?? 1,
    status: options.status ?? 'active',
    created_at: TEST_START.toISOString(),
    previous_billing_date: startsAt.toISOString(),
    next_billing_date: endsAt.toISOString(),
    cancel_at_next_billing_date: false,
    cancelled_at: null,
    expires_at: new Date(TEST_START.getTime() + 3_650 * DAY_MS).toISOString(),
    payment_frequency_count: 1,
    payment_frequency_interval: 'Month',
    subscription_period_count: 10,
    subscription_period_interval: 'Year',
    trial_period_days: options.trialDays ?? 0,
    recurring_pre_tax_amount: 1_000,
    currency: 'EUR',
    tax_inclusive: false,
    on_demand: false,
    addons: [],
    customer: writeCustomer(),
    billing: { country: 'AT', city: 'Vienna' },
    metadata: {},
  });
}

/** `refund.succeeded`. */
export function dodoRefund(
  options: DodoOptions & {
    readonly refundId?: string;
    readonly paymentId?: string;
    readonly amount?: number;
    readonly isPartial?: boolean;
  } = {},
): DodoTestEvent {
  return createEvent('refund.succeeded', options, {
    payload_type: 'Refund',
    refund_id: options.refundId ?? 'ref_1',
    payment_id: options.paymentId ?? 'pay_ann',
    amount: options.amount ?? 1_190,
    currency: 'EUR',
    is_partial: options.isPartial ?? false,
    status: 'succeeded',
    reason: null,
    customer: writeCustomer(),
  });
}

/** `dispute.opened`, `.won`, `.lost` and so on. */
export function dodoDispute(type: string, options: DodoOptions = {}): DodoTestEvent {
  return createEvent(type, options, {
    payload_type: 'Dispute',
    dispute_id: 'dp_1',
    payment_id: 'pay_ann',
    amount: '11.90',
    currency: 'EUR',
    dispute_stage: 'dispute',
    dispute_status: type.replace('.', '_'),
  });
}

function createEvent(
  type: string,
  { at = TEST_START, object = {} }: DodoOptions,
  data: Readonly<Record<string, unknown>>,
): DodoTestEvent {
  return { business_id: 'bus_1', type, timestamp: at.toISOString(), data: { ...data, ...object } };
}
