/** Test webhooks of Creem, with the fields that its events have. */
import { createHmac } from 'node:crypto';

import { DAY_MS, TEST_START } from '../test-clock.ts';

/** An event before serialization to JSON. */
export interface CreemTestEvent {
  readonly id: string;
  readonly eventType: string;
  readonly created_at: number;
  readonly object: Readonly<Record<string, unknown>>;
}

interface CreemOptions {
  readonly at?: Date;
  readonly mode?: string;
  /** Replaces fields of the object. */
  readonly object?: Readonly<Record<string, unknown>>;
}

export interface CreemCheckoutOptions extends CreemOptions {
  readonly isRecurring?: boolean;
  readonly units?: number;
  readonly email?: string;
}

export interface CreemSubscriptionOptions extends CreemOptions {
  readonly status?: string;
  readonly transactionId?: string;
  readonly startsAt?: Date;
  readonly endsAt?: Date;
  readonly units?: number;
  readonly productId?: string;
}

export const CREEM_CHECKOUT = 'ch_1QyIQDw9cbFWdA1ry5Qc6I';
export const CREEM_SUBSCRIPTION = 'sub_6pC2lNB6joCRQIZ1aMrTpi';
export const CREEM_PRODUCT = 'prod_d1AY2Sadk9YAvLI0pj97f';

const CUSTOMER_ID = 'cust_1OcIK1GEuVvXZwD19tjq2z';
const ORDER_ID = 'ord_4aDwWXjMLpes4Kj4XqNnUA';
const MONTH_LATER = new Date(TEST_START.getTime() + 31 * DAY_MS);

let events = 0;

function writeProduct(id: string, isRecurring: boolean) {
  return {
    id,
    name: 'Studio',
    price: 1_000,
    currency: 'EUR',
    billing_type: isRecurring ? 'recurring' : 'onetime',
    billing_period: isRecurring ? 'every-month' : 'once',
  };
}

function writeCustomer(email = 'ann@example.com') {
  return { id: CUSTOMER_ID, object: 'customer', email, name: 'Ann Example', country: 'AT' };
}

function writeTransaction(id: string, isRecurring: boolean, refunded = 0) {
  return {
    id,
    object: 'transaction',
    amount: 1_000,
    amount_paid: 1_190,
    tax_amount: 190,
    tax_country: 'AT',
    currency: 'EUR',
    type: isRecurring ? 'invoice' : 'payment',
    refunded_amount: refunded,
    order: ORDER_ID,
    subscription: isRecurring ? CREEM_SUBSCRIPTION : null,
    customer: CUSTOMER_ID,
  };
}

/** `checkout.completed`. */
export function creemCheckout(options: CreemCheckoutOptions = {}): CreemTestEvent {
  const { isRecurring = false } = options;
  return createEvent('checkout.completed', options, {
    id: CREEM_CHECKOUT,
    object: 'checkout',
    status: 'completed',
    units: options.units ?? 1,
    order: {
      id: ORDER_ID,
      customer: CUSTOMER_ID,
      product: CREEM_PRODUCT,
      amount: 1_000,
      tax_amount: 190,
      amount_paid: 1_190,
      currency: 'EUR',
      status: 'paid',
      type: isRecurring ? 'recurring' : 'onetime',
    },
    product: writeProduct(CREEM_PRODUCT, isRecurring),
    customer: writeCustomer(options.email),
    ...(isRecurring
      ? {
          subscription: {
            id: CREEM_SUBSCRIPTION,
            object: 'subscription',
            product: CREEM_PRODUCT,
            customer: CUSTOMER_ID,
            status: 'active',
            canceled_at: null,
          },
        }
      : {}),
    custom_fields: [],
    metadata: {},
  });
}

/** `subscription.paid`, `.active`, `.scheduled_cancel`, `.canceled` and so on. */
export function creemSubscription(
  type: string,
  options: CreemSubscriptionOptions = {},
): CreemTestEvent {
  const { startsAt = TEST_START, endsAt = MONTH_LATER, productId = CREEM_PRODUCT } = options;
  const transactionId = options.transactionId ?? 'tran_1';
  return createEvent(type, options, {
    id: CREEM_SUBSCRIPTION,
    object: 'subscription',
    product: writeProduct(productId, true),
    customer: writeCustomer(),
    items: [
      { id: 'sitem_1', product_id: productId, price_id: 'pprice_1', units: options.units ?? 1 },
    ],
    collection_method: 'charge_automatically',
    status: options.status ?? 'active',
    last_transaction_id: transactionId,
    last_transaction: writeTransaction(transactionId, true),
    current_period_start_date: startsAt.toISOString(),
    current_period_end_date: endsAt.toISOString(),
    canceled_at: null,
    metadata: {},
  });
}

/** `refund.created`. */
export function creemRefund(
  options: CreemOptions & {
    readonly transactionId?: string;
    readonly amount?: number;
    readonly isRecurring?: boolean;
  } = {},
): CreemTestEvent {
  const { transactionId = 'tran_1', amount = 1_190, isRecurring = false } = options;
  return createEvent('refund.created', options, {
    id: `ref_${transactionId}`,
    object: 'refund',
    status: 'succeeded',
    refund_amount: amount,
    refund_currency: 'EUR',
    reason: 'requested_by_customer',
    transaction: writeTransaction(transactionId, isRecurring, amount),
    order: { id: ORDER_ID, status: 'paid' },
    checkout: { id: CREEM_CHECKOUT },
    customer: writeCustomer(),
    ...(isRecurring ? { subscription: { id: CREEM_SUBSCRIPTION, status: 'active' } } : {}),
  });
}

/** `dispute.created`. */
export function creemDispute(options: CreemOptions & { readonly isRecurring?: boolean } = {}) {
  const { isRecurring = false } = options;
  return createEvent('dispute.created', options, {
    id: 'disp_1',
    object: 'dispute',
    amount: 1_190,
    currency: 'EUR',
    transaction: writeTransaction('tran_1', isRecurring),
    order: { id: ORDER_ID, status: 'paid' },
    customer: writeCustomer(),
  });
}

/** The headers and the signed body of an event's request. */
export function creemDelivery(
  event: unknown,
  { secret }: { readonly secret: string },
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const body = JSON.stringify(event);
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return {
    headers: { 'content-type': 'application/json', 'creem-signature': signature },
    body,
  };
}

function createEvent(
  eventType: string,
  { at = TEST_START, mode = 'prod', object = {} }: CreemOptions,
  usual: Readonly<Record<string, unknown>>,
): CreemTestEvent {
  events += 1;
  return {
    id: `evt_${String(events).padStart(8, '0')}`,
    eventType,
    created_at: at.getTime(),
    object: { ...usual, mode, ...object },
  };
}
