import {
  LINKING_PAYMENT,
  type AdjustmentFact,
  type BillingCycle,
  type BillingFact,
  type BillingLine,
  type CustomerDetails,
  type PaymentFact,
  type SubscriptionFact,
} from '../../facts.ts';
import { requireId, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { readOrderOptions } from '../custom-data.ts';
import {
  isObject,
  readCountry,
  readCurrency,
  readEmail,
  readId,
  readInteger,
  readList,
  readObject,
  readPeriod,
  readQuantity,
  readReference,
  readTax,
  readText,
  readTime,
  readWord,
  type JsonObject,
} from '../fields.ts';
import { findUnpaidReason } from '../unpaid.ts';

/** `scheduled_cancel` runs until the end of its period. An unpaid subscription returns once it is paid. */
const STATUSES: ReadonlyMap<unknown, SubscriptionFact['status']> = new Map([
  ['active', 'active'],
  ['scheduled_cancel', 'active'],
  ['trialing', 'trialing'],
  ['past_due', 'past_due'],
  ['expired', 'past_due'],
  ['unpaid', 'paused'],
  ['paused', 'paused'],
  ['canceled', 'canceled'],
]);

const STATES = { paid: ['paid'], unpaid: ['pending'] };

const CYCLES: ReadonlyMap<unknown, BillingCycle> = new Map([
  ['every-day', { interval: 'day', frequency: 1 }],
  ['every-week', { interval: 'week', frequency: 1 }],
  ['every-month', { interval: 'month', frequency: 1 }],
  ['every-three-months', { interval: 'month', frequency: 3 }],
  ['every-six-months', { interval: 'month', frequency: 6 }],
  ['every-year', { interval: 'year', frequency: 1 }],
]);

/**
 * Reads a completed checkout. A one-time payment has the id of its order. A subscription is paid by transactions, which
 * `subscription.paid` reports; the fact here only names it by its checkout.
 */
export function readCheckout(event: ProviderEvent): Interpretation {
  const { data: checkout, occurrence } = event;
  const checkoutId = requireId(event, 'id');
  const order = readObject(checkout['order']);
  const { subscription } = checkout;
  const subscriptionId = readReference(subscription);
  if (subscriptionId !== null) {
    // The subscription within a checkout refers to its customer and product, which the checkout contains.
    const reported = readObject(subscription);
    const data = {
      units: checkout['units'],
      metadata: checkout['metadata'],
      ...reported,
      customer: checkout['customer'] ?? reported['customer'],
      product: checkout['product'] ?? reported['product'],
    };
    const status = STATUSES.get(reported['status']) ?? 'active';
    return [
      { ...toSnapshot({ ...event, data }, subscriptionId, status), transactionId: checkoutId },
      ...readCustomer(event, checkout),
    ];
  }
  const unpaid = findUnpaidReason(order['status'], STATES);
  if (unpaid !== null) return unpaid;
  const transactionId = readId(order['id']) ?? checkoutId;
  const transaction = readReference(order['transaction']);
  const total = readInteger(order['amount_paid']) ?? readInteger(order['amount']);
  const payment: PaymentFact = {
    ...LINKING_PAYMENT,
    transactionId,
    checkoutId,
    ...(transaction === null ? {} : { aliases: [transaction] }),
    origin: 'purchase',
    customerId: readReference(checkout['customer']),
    customer: readBuyer(checkout),
    ...occurrence,
    lines: readLines(checkout, null),
    ...readOrderOptions(checkout['metadata']),
    total,
    ...readCurrency(order['currency']),
    ...readTax(readInteger(order['tax_amount']), total),
    ...readCountry(readObject(checkout['customer'])['country']),
    ...readWord(order['status']),
  };
  return [payment, ...readCustomer(event, checkout)];
}

/** Reads the snapshot of a subscription, and with `subscription.paid` its newest payment. */
export function readSubscription(event: ProviderEvent): Interpretation {
  const { data, type } = event;
  const subscriptionId = requireId(event, 'id');
  const reported = STATUSES.get(data['status']);
  if (reported === undefined) return 'The subscription has an unknown status.';
  // Payments are still tried, and the status remains active until then.
  const status = type === 'subscription.expired' && reported === 'active' ? 'past_due' : reported;
  const facts = [toSnapshot(event, subscriptionId, status), ...readCustomer(event, data)];
  return type === 'subscription.paid' ? [...facts, ...readPayment(event, subscriptionId)] : facts;
}

function toSnapshot(
  { data, occurrence, occurredAt }: ProviderEvent,
  subscriptionId: string,
  status: SubscriptionFact['status'],
): SubscriptionFact {
  const period = readCurrentPeriod(data);
  const isRunning = status !== 'paused' && status !== 'canceled';
  return {
    kind: 'subscription',
    subscriptionId,
    transactionId: null,
    customerId: readReference(data['customer']),
    customer: readBuyer(data),
    ...occurrence,
    status,
    period: isRunning ? period : null,
    pausedAt: status === 'paused' ? occurredAt : null,
    canceledAt: status === 'canceled' ? (readTime(data['canceled_at']) ?? occurredAt) : null,
    scheduledChange:
      data['status'] === 'scheduled_cancel' && period !== null
        ? { action: 'cancel', effectiveAt: period.endsAt }
        : null,
    lines: readLines(data, subscriptionId),
    ...readOrderOptions(data['metadata']),
    ...readWord(data['status']),
  };
}

function readCurrentPeriod(data: JsonObject): SubscriptionFact['period'] {
  return readPeriod({
    starts_at: data['current_period_start_date'],
    ends_at: data['current_period_end_date'],
  });
}

/** Reads the payment of the current period. */
function readPayment({ data, occurrence }: ProviderEvent, subscriptionId: string): PaymentFact[] {
  const transaction = readObject(data['last_transaction']);
  const transactionId = readId(data['last_transaction_id']) ?? readId(transaction['id']);
  if (transactionId === null) return [];
  const total = readInteger(transaction['amount_paid']) ?? readInteger(transaction['amount']);
  return [
    {
      ...LINKING_PAYMENT,
      transactionId,
      subscriptionId,
      origin: 'renewal',
      customerId: readReference(data['customer']),
      customer: readBuyer(data),
      ...occurrence,
      period: readCurrentPeriod(data),
      lines: readLines(data, subscriptionId),
      total,
      ...readCurrency(transaction['currency']),
      ...readTax(readInteger(transaction['tax_amount']), total),
      ...readCountry(transaction['tax_country']),
    },
  ];
}

/** Catalogues name products. The line of a subscription has its id, so that it stays the same when the product changes. */
function readLines(data: JsonObject, subscriptionId: string | null): BillingLine[] {
  const item = readObject(readList(data['items'])[0]);
  const product = readObject(data['product']);
  const priceId = readReference(data['product']) ?? readId(item['product_id']);
  if (priceId === null) return [];
  return [
    {
      lineId: subscriptionId ?? priceId,
      priceId,
      quantity: readQuantity(item['units'] ?? data['units']),
      cycle: subscriptionId === null ? null : (CYCLES.get(product['billing_period']) ?? null),
      total: null,
    },
  ];
}

function readBuyer(data: JsonObject): CustomerDetails {
  const customer = readObject(data['customer']);
  return { email: readEmail(customer['email']), name: readText(customer['name']), locale: null };
}

/** Events contain the customer, and there are none of a customer alone. */
function readCustomer({ occurrence }: ProviderEvent, data: JsonObject): BillingFact[] {
  const { customer } = data;
  const customerId = readReference(customer);
  if (customerId === null || !isObject(customer)) return [];
  return [{ kind: 'customer', customerId, ...occurrence, customer: readBuyer(data) }];
}

/** Reads a refund. */
export function readRefund(event: ProviderEvent): Interpretation {
  const { data } = event;
  if (data['status'] !== 'succeeded') return 'The refund has not succeeded.';
  const total = readInteger(data['refund_amount']);
  const paid = readInteger(readObject(data['transaction'])['amount_paid']);
  return [
    {
      ...toAdjustment(event, 'refund'),
      // Several partial refunds may add up to the whole.
      full: total !== null && paid !== null && total >= paid ? true : null,
      total,
      ...readCurrency(data['refund_currency']),
    },
  ];
}

/** Reads a dispute, whose end Creem does not report. */
export function readDispute(event: ProviderEvent): Interpretation {
  return [
    {
      ...toAdjustment(event, 'chargeback'),
      full: null,
      total: readInteger(event.data['amount']),
      ...readCurrency(event.data['currency']),
    },
  ];
}

/** The payment of a subscription is known by its transaction, a one-time payment by its order. */
function toAdjustment(
  event: ProviderEvent,
  effect: AdjustmentFact['effect'],
): Omit<AdjustmentFact, 'full' | 'total'> {
  const { data, occurrence } = event;
  const transaction = readObject(data['transaction']);
  const isRecurring =
    readReference(data['subscription']) !== null ||
    readReference(transaction['subscription']) !== null;
  const orderId = readReference(data['order']) ?? readReference(transaction['order']);
  const transactionId = isRecurring ? null : orderId;
  return {
    kind: 'adjustment',
    adjustmentId: requireId(event, 'id'),
    transactionId: transactionId ?? requireId({ ...event, data: transaction }, 'id'),
    ...occurrence,
    effect,
    status: 'approved',
    lines: [],
  };
}
