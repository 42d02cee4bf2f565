import type { BillingLine, PaymentFact } from '../../facts.ts';
import type { Reading } from '../adapter.ts';
import {
  readId,
  readInteger,
  readObject,
  readOccurrence,
  readQuantity,
  type JsonObject,
} from '../fields.ts';
import { nameObject, readBuyer, requireAttribute, type LemonSqueezyEvent } from './envelope.ts';

/** States in which the money has come in, whether or not it went back since. */
const PAID = new Set<unknown>(['paid', 'refunded', 'partial_refund']);

/**
 * Reads an order as the purchase. It is known by its `identifier`: the bare numbers of orders run through all shops, so
 * whoever asked for the next ones would be shown other people's keys. Subscriptions name the order by number.
 */
export function readOrder(event: LemonSqueezyEvent): Reading {
  const { attributes, objectId, occurrence } = event;
  const transactionId = requireAttribute(event, 'identifier');
  if (!PAID.has(attributes['status'])) return 'The order is not paid.';
  return [
    {
      kind: 'payment',
      transactionId,
      aliases: [nameObject('order', objectId)],
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

/** Reads how much of an order was given back until now. */
export function readRefundedOrder(event: LemonSqueezyEvent): Reading {
  const { attributes, objectId, occurrence } = event;
  return [
    {
      kind: 'adjustment',
      adjustmentId: nameObject('order', objectId),
      transactionId: requireAttribute(event, 'identifier'),
      ...occurrence,
      effect: 'refund',
      status: 'approved',
      ...readRefunded(attributes),
      lines: [],
    },
  ];
}

/** Reads what an order or an invoice says of refunds; the amounts of several are summed up there. */
function readRefunded(attributes: JsonObject): {
  readonly full: boolean | null;
  readonly total: number | null;
} {
  const total = readInteger(attributes['refunded_amount']);
  const status = attributes['status'];
  if (status === 'partial_refund') return { full: false, total };
  // Before there were partial refunds, orders had no amount: what was refunded was refunded as a whole.
  return { full: status === 'refunded' || attributes['refunded'] === true, total };
}

/**
 * An order does not say whether its variant is paid once or begins a subscription; the subscription, told by an event of
 * its own, does. Lest each subscription made a second license for ever, a variant that is paid once has the price
 * `once:<variant>` in the catalogue, and one that is subscribed to `<variant>`.
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

/** Reads a payment of a subscription. The first one is that of the order, which has an event of its own. */
export function readInvoice(event: LemonSqueezyEvent): Reading {
  const { attributes, objectId, occurrence } = event;
  return [
    {
      kind: 'payment',
      transactionId: nameObject('invoice', objectId),
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

/** Reads how much of a subscription's payment was given back until now. */
export function readRefundedInvoice(event: LemonSqueezyEvent): Reading {
  const { attributes, objectId, occurrence } = event;
  const transactionId = nameObject('invoice', objectId);
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
