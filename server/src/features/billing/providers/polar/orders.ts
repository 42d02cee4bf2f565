import type { AdjustmentFact, BillingCycle, BillingLine, PaymentFact } from '../../facts.ts';
import { INTERVALS, LINKING_PAYMENT, type CustomerDetails } from '../../facts.ts';
import { requireId, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { readLicenseReference, readOrderOptions } from '../custom-data.ts';
import {
  readCountry,
  readCurrency,
  readEmail,
  readId,
  readInteger,
  readObject,
  readOccurrence,
  readQuantity,
  readReference,
  readTax,
  readText,
  readWord,
  type JsonObject,
} from '../fields.ts';
import { findUnpaidReason } from '../unpaid.ts';

const STATES = {
  paid: ['paid', 'refunded', 'partially_refunded'],
  unpaid: ['draft', 'pending', 'void'],
};

const ORIGINS: ReadonlyMap<unknown, PaymentFact['origin']> = new Map([
  ['purchase', 'purchase'],
  ['subscription_create', 'purchase'],
  ['subscription_cycle', 'renewal'],
  ['subscription_update', 'change'],
]);

/** Reads a paid order as a payment, and what was refunded of it. The front end knows the id of the checkout. */
export function readOrder(event: ProviderEvent): Interpretation {
  const { data: order, occurrence } = event;
  const transactionId = requireId(event, 'id');
  const unpaid = findUnpaidReason(order['status'], STATES);
  if (unpaid !== null) return unpaid;
  const checkoutId = readId(order['checkout_id']);
  const total = readTotal(order);
  const payment: PaymentFact = {
    ...LINKING_PAYMENT,
    transactionId,
    ...(checkoutId === null ? {} : { checkoutId }),
    subscriptionId: readId(order['subscription_id']),
    origin: ORIGINS.get(order['billing_reason']) ?? 'other',
    customerId: readId(order['customer_id']),
    customer: readBuyer(order),
    ...(readOccurrence(order['created_at']) ?? occurrence),
    lines: readLines(order, total),
    ...readOrderOptions(
      order['metadata'],
      // The address of a checkout link can contain this, but no other metadata.
      readLicenseReference(readObject(order['metadata'])['reference_id']),
    ),
    total,
    ...readCurrency(order['currency']),
    ...readTax(readInteger(order['tax_amount']), total),
    ...readCountry(readObject(order['billing_address'])['country']),
    ...readWord(order['status']),
  };
  const refund = readRefund(event, transactionId);
  return refund === null ? [payment] : [payment, refund];
}

/** Amounts were called `amount` before `total_amount` was added. */
function readTotal(order: JsonObject): number | null {
  const total = readInteger(order['total_amount']);
  if (total !== null) return total;
  const [amount, tax] = [readInteger(order['amount']), readInteger(order['tax_amount'])];
  return amount === null ? null : amount + (tax ?? 0);
}

/** Reads the sum of all refunds, which an order reports, so that it does not matter whether events of refunds arrive, too. */
function readRefund(
  { data: order, occurrence }: ProviderEvent,
  transactionId: string,
): AdjustmentFact | null {
  const refunded = readInteger(order['refunded_amount']);
  const isFull = order['status'] === 'refunded';
  if (!isFull && (refunded === null || refunded <= 0)) return null;
  return {
    kind: 'adjustment',
    adjustmentId: `refunds:${transactionId}`,
    transactionId,
    ...occurrence,
    effect: 'refund',
    status: 'approved',
    full: isFull,
    total: refunded === null ? null : refunded + (readInteger(order['refunded_tax_amount']) ?? 0),
    ...readCurrency(order['currency']),
    lines: [],
  };
}

/** Catalogues name products. The line of a subscription has its id, so that it stays the same when the product changes. */
function readLines(order: JsonObject, total: number | null): BillingLine[] {
  const productId = readId(order['product_id']) ?? readReference(order['product']);
  if (productId === null) return [];
  const subscriptionId = readId(order['subscription_id']);
  if (subscriptionId === null) return [toLine(order, productId, productId, null, total)];
  const cycle = readCycle(readObject(order['subscription']));
  // Without a cycle it would be a one-time purchase; without lines it pays those of the subscription.
  return cycle === null ? [] : [toLine(order, subscriptionId, productId, cycle, total)];
}

/** Creates a line of an order or subscription. A product with seats has its number of machines from them. */
export function toLine(
  data: JsonObject,
  lineId: string,
  priceId: string,
  cycle: BillingCycle | null,
  total: number | null,
): BillingLine {
  return { lineId, priceId, quantity: readQuantity(data['seats']), cycle, total };
}

/** Reads the billing cycle of a subscription. */
export function readCycle(subscription: JsonObject): BillingCycle | null {
  const interval = INTERVALS.find((known) => known === subscription['recurring_interval']);
  if (interval === undefined) return null;
  return { interval, frequency: readInteger(subscription['recurring_interval_count']) ?? 1 };
}

/** Reads the customer within an order or subscription. */
export function readBuyer(data: JsonObject): CustomerDetails {
  return readCustomerDetails(readObject(data['customer']));
}

function readCustomerDetails(customer: JsonObject): CustomerDetails {
  return {
    email: readEmail(customer['email']),
    name: readText(customer['name']),
    locale: readText(customer['locale'], 35),
  };
}

/** Reads a new or changed customer. */
export function readCustomer(event: ProviderEvent): Interpretation {
  const { data, occurrence } = event;
  const customerId = requireId(event, 'id');
  return [{ kind: 'customer', customerId, ...occurrence, customer: readCustomerDetails(data) }];
}
