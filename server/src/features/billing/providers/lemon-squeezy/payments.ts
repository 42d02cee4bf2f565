import {
  LINKING_PAYMENT,
  type AdjustmentFact,
  type BillingLine,
  type CustomerDetails,
  type PaymentFact,
} from '../../facts.ts';
import { requireId, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { readOrderOptions } from '../custom-data.ts';
import {
  readCurrency,
  readEmail,
  readId,
  readInteger,
  readObject,
  readOccurrence,
  readQuantity,
  readTax,
  readText,
  readWord,
  type JsonObject,
} from '../fields.ts';
import { findUnpaidReason } from '../unpaid.ts';

const STATES = {
  paid: ['paid', 'refunded', 'partial_refund'],
  unpaid: ['pending', 'failed', 'fraudulent'],
};

/**
 * Reads an order as a purchase. Its id is `identifier`, because the numbers of orders are sequential across all shops:
 * they could be guessed to read other buyers' keys. Subscriptions refer to the order by its number.
 */
export function readOrder(event: ProviderEvent): Interpretation {
  const { data: attributes, occurrence } = event;
  const transactionId = requireId(event, 'identifier');
  const unpaid = findUnpaidReason(attributes['status'], STATES);
  if (unpaid !== null) return unpaid;
  return [
    {
      ...LINKING_PAYMENT,
      transactionId,
      aliases: [qualifyId('order', requireId(event, 'id'))],
      origin: 'purchase',
      customerId: readId(attributes['customer_id']),
      customer: readBuyer(attributes),
      ...(readOccurrence(attributes['created_at']) ?? occurrence),
      lines: readLines(attributes),
      ...readOrderOptions(attributes['custom_data']),
      ...readMoney(attributes),
      ...readWord(attributes['status']),
    },
  ];
}

function readMoney(attributes: JsonObject): Pick<PaymentFact, 'total' | 'currency' | 'tax'> {
  const total = readInteger(attributes['total']);
  return {
    total,
    ...readCurrency(attributes['currency']),
    ...readTax(readInteger(attributes['tax']), total),
  };
}

/** Reads the refunded amount of an order. */
export function readRefundedOrder(event: ProviderEvent): Interpretation {
  const adjustmentId = qualifyId('order', requireId(event, 'id'));
  return [toRefund(event, adjustmentId, requireId(event, 'identifier'))];
}

/** Reads the refunded amount of a subscription's payment. */
export function readRefundedInvoice(event: ProviderEvent): Interpretation {
  const transactionId = qualifyId('invoice', requireId(event, 'id'));
  return [toRefund(event, transactionId, transactionId)];
}

function toRefund(
  { data, occurrence }: ProviderEvent,
  adjustmentId: string,
  transactionId: string,
): AdjustmentFact {
  return {
    kind: 'adjustment',
    adjustmentId,
    transactionId,
    ...occurrence,
    effect: 'refund',
    status: 'approved',
    ...readRefunded(data),
    ...readCurrency(data['currency']),
    ...readWord(data['status']),
    lines: [],
  };
}

/** Reads the sum of all refunds of an order or invoice. */
function readRefunded(attributes: JsonObject): {
  readonly full: boolean | null;
  readonly total: number | null;
} {
  const total = readInteger(attributes['refunded_amount']);
  const status = attributes['status'];
  if (status === 'partial_refund') return { full: false, total };
  // Older orders have no amount: a refund was always full.
  return { full: status === 'refunded' || attributes['refunded'] === true, total };
}

/**
 * An order does not report whether its variant is a one-time purchase or a subscription. A variant for one-time
 * purchase therefore has the price `once:<variant>` in the catalogue, one for subscription `<variant>`: otherwise each
 * subscription would create a second, perpetual license.
 */
function readLines(attributes: JsonObject): BillingLine[] {
  const item = readObject(attributes['first_order_item']);
  const variantId = readId(item['variant_id']);
  if (variantId === null) return [];
  return [
    {
      lineId: readId(item['id']) ?? variantId,
      priceId: `once:${variantId}`,
      quantity: readQuantity(item['quantity']),
      cycle: null,
      total: readInteger(attributes['total']),
    },
  ];
}

/** Reads a payment of a subscription. The first payment belongs to the order, which has its own event. */
export function readInvoice(event: ProviderEvent): Interpretation {
  const { data: attributes, occurrence } = event;
  return [
    {
      ...LINKING_PAYMENT,
      transactionId: qualifyId('invoice', requireId(event, 'id')),
      subscriptionId: requireId(event, 'subscription_id'),
      origin: readOrigin(attributes['billing_reason']),
      customerId: readId(attributes['customer_id']),
      customer: readBuyer(attributes),
      ...(readOccurrence(attributes['created_at']) ?? occurrence),
      ...readMoney(attributes),
      ...readWord(attributes['billing_reason']),
    },
  ];
}

function readOrigin(reason: unknown): PaymentFact['origin'] {
  switch (reason) {
    case 'renewal':
      return 'renewal';
    case 'updated':
      return 'change';
    default:
      return 'other';
  }
}

/** Reads the buyer from any object. */
export function readBuyer(attributes: JsonObject): CustomerDetails {
  return {
    email: readEmail(attributes['user_email']),
    name: readText(attributes['user_name']),
    locale: null,
  };
}

/** Creates a unique id of an object: Lemon Squeezy numbers each kind separately. */
export function qualifyId(kind: 'order' | 'invoice' | 'subscription', id: string): string {
  return `${kind}:${id}`;
}
