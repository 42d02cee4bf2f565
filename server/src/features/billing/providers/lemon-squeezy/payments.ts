import type { BillingLine, PaymentFact } from '../../facts.ts';
import type { Interpretation } from '../adapter.ts';
import {
  readId,
  readInteger,
  readObject,
  readOccurrence,
  readQuantity,
  type JsonObject,
} from '../fields.ts';
import { qualifyId, readBuyer, requireAttribute, type LemonSqueezyEvent } from './envelope.ts';

/** The states of an order that was paid, and possibly refunded later. */
const PAID = new Set<unknown>(['paid', 'refunded', 'partial_refund']);

/**
 * Reads an order as a purchase. Its id is `identifier`, because the numbers of orders are sequential across all shops: they
 * could be guessed to read other buyers' keys. Subscriptions refer to the order by its number.
 */
export function readOrder(event: LemonSqueezyEvent): Interpretation {
  const { attributes, objectId, occurrence } = event;
  const transactionId = requireAttribute(event, 'identifier');
  if (!PAID.has(attributes['status'])) return 'The order is not paid.';
  return [
    {
      kind: 'payment',
      transactionId,
      aliases: [qualifyId('order', objectId)],
      subscriptionId: null,
      origin: 'purchase',
      customerId: readId(attributes['customer_id']),
      customer: readBuyer(attributes),
      ...(readOccurrence(attributes['created_at']) ?? occurrence),
      period: null,
      lines: readLines(attributes),
      total: readInteger(attributes['total']),
    },
  ];
}

/** Reads the refunded amount of an order. */
export function readRefundedOrder(event: LemonSqueezyEvent): Interpretation {
  const { attributes, objectId, occurrence } = event;
  return [
    {
      kind: 'adjustment',
      adjustmentId: qualifyId('order', objectId),
      transactionId: requireAttribute(event, 'identifier'),
      ...occurrence,
      effect: 'refund',
      status: 'approved',
      ...readRefunded(attributes),
      lines: [],
    },
  ];
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
 * An order does not contain whether its variant is a one-time purchase or a subscription. A variant for one-time purchase
 * therefore has the price `once:<variant>` in the catalogue, one for subscription `<variant>`: otherwise each subscription
 * would create a second, perpetual license.
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
export function readInvoice(event: LemonSqueezyEvent): Interpretation {
  const { attributes, objectId, occurrence } = event;
  return [
    {
      kind: 'payment',
      transactionId: qualifyId('invoice', objectId),
      subscriptionId: requireAttribute(event, 'subscription_id'),
      origin: readOrigin(attributes['billing_reason']),
      customerId: readId(attributes['customer_id']),
      customer: readBuyer(attributes),
      ...(readOccurrence(attributes['created_at']) ?? occurrence),
      period: null,
      lines: [],
      total: readInteger(attributes['total']),
    },
  ];
}

/** Reads the refunded amount of a subscription's payment. */
export function readRefundedInvoice(event: LemonSqueezyEvent): Interpretation {
  const { attributes, objectId, occurrence } = event;
  const transactionId = qualifyId('invoice', objectId);
  return [
    {
      kind: 'adjustment',
      adjustmentId: transactionId,
      transactionId,
      ...occurrence,
      effect: 'refund',
      status: 'approved',
      ...readRefunded(attributes),
      lines: [],
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
