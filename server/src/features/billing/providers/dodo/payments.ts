import {
  LINKING_PAYMENT,
  type AdjustmentFact,
  type BillingLine,
  type CustomerDetails,
} from '../../facts.ts';
import { requireId, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { readOrderOptions } from '../custom-data.ts';
import {
  readCountry,
  readCurrency,
  readEmail,
  readId,
  readInteger,
  readList,
  readObject,
  readOccurrence,
  readQuantity,
  readTax,
  readText,
  readWord,
  type JsonObject,
} from '../fields.ts';

/**
 * Reads a payment. Those of a subscription do not report whether they are the first one, nor what they pay: its snapshots do.
 * The refunds that a payment lists are those at its delivery, so they are read from their own events.
 */
export function readPayment(event: ProviderEvent): Interpretation {
  const { data, occurrence } = event;
  const transactionId = requireId(event, 'payment_id');
  const subscriptionId = readId(data['subscription_id']);
  const checkoutId = readId(data['checkout_session_id']);
  const total = readInteger(data['total_amount']);
  const isCard = data['is_update_payment_method'] === true;
  if (isCard && total === 0) return 'The payment only changes how a subscription is paid.';
  const paid = {
    ...LINKING_PAYMENT,
    transactionId,
    customerId: readId(readObject(data['customer'])['customer_id']),
    customer: readBuyer(data),
    ...(readOccurrence(data['created_at']) ?? occurrence),
    total,
    ...readCurrency(data['currency']),
    ...readTax(readInteger(data['tax']), total),
    ...readCountry(readObject(data['billing'])['country']),
    ...readOrderOptions(data['metadata']),
    ...readWord(data['status']),
  };
  if (subscriptionId !== null) {
    return [{ ...paid, subscriptionId, origin: isCard ? 'other' : 'renewal' }];
  }
  return [
    {
      ...paid,
      ...(checkoutId === null ? {} : { aliases: [checkoutId] }),
      origin: 'purchase',
      lines: readList(data['product_cart']).flatMap(readCartItem),
    },
  ];
}

function readCartItem(value: unknown): BillingLine[] {
  const item = readObject(value);
  const productId = readId(item['product_id']);
  if (productId === null) return [];
  const quantity = readQuantity(item['quantity']);
  return [{ lineId: productId, priceId: productId, quantity, cycle: null, total: null }];
}

/** Reads the customer within a payment or subscription. */
export function readBuyer(data: JsonObject): CustomerDetails {
  const customer = readObject(data['customer']);
  return {
    email: readEmail(customer['email']),
    name: readText(customer['name']),
    locale: null,
  };
}

/** Reads a refund. */
export function readRefund(event: ProviderEvent): Interpretation {
  const { data, occurrence } = event;
  const total = readInteger(data['amount']);
  const refund: AdjustmentFact = {
    kind: 'adjustment',
    adjustmentId: requireId(event, 'refund_id'),
    transactionId: requireId(event, 'payment_id'),
    ...occurrence,
    effect: 'refund',
    status: 'approved',
    // Several partial refunds may add up to the whole.
    full: data['is_partial'] === false ? true : null,
    total,
    ...readCurrency(data['currency']),
    lines: [],
  };
  return [refund];
}

/** A dispute suspends the licenses of its payment, until it is won, canceled or expires. */
const DISPUTES: ReadonlyMap<string, AdjustmentFact['status']> = new Map([
  ['dispute.opened', 'approved'],
  ['dispute.challenged', 'approved'],
  ['dispute.accepted', 'approved'],
  ['dispute.lost', 'approved'],
  ['dispute.won', 'reversed'],
  ['dispute.cancelled', 'reversed'],
  ['dispute.expired', 'reversed'],
]);

export const DISPUTE_TYPES = [...DISPUTES.keys()];

/** Reads a dispute. Its amount is in whole units of the currency, and only recorded. */
export function readDispute(event: ProviderEvent): Interpretation {
  return [
    {
      kind: 'adjustment',
      adjustmentId: requireId(event, 'dispute_id'),
      transactionId: requireId(event, 'payment_id'),
      ...event.occurrence,
      effect: 'chargeback',
      status: DISPUTES.get(event.type) ?? 'approved',
      full: null,
      total: null,
      lines: [],
    },
  ];
}
