import type { BillingFact, BillingLine, CustomerDetails } from '../../facts.ts';
import {
  readEmail,
  readId,
  readInteger,
  readList,
  readObject,
  readQuantity,
  readReference,
  readText,
  readUnixSeconds,
  type JsonObject,
} from '../fields.ts';
import type { Interpretation } from '../adapter.ts';
import { requireId, type StripeEvent } from './envelope.ts';
import { readPriceCycle } from './lines.ts';

/**
 * Reads a completed checkout. A one-time payment has the id of its payment intent, which refunds and disputes refer to. A
 * subscription is paid by its first invoice; the fact here only links the checkout to that invoice, and is older than the
 * fact of the invoice.
 */
export function readCheckout(event: StripeEvent): Interpretation {
  const session = event.object;
  const mode = readText(session['mode']);
  if (mode === 'payment') return readOneTime(event);
  if (mode === 'subscription') return readFirstOfSubscription(event);
  return 'The checkout is neither a payment nor a subscription.';
}

function readOneTime(event: StripeEvent): Interpretation {
  const session = event.object;
  const checkoutId = requireId(event, 'id');
  if (session['payment_status'] === 'unpaid') return 'The payment is not completed.';
  const lines = readSessionLines(session);
  if (lines.length === 0) return 'The checkout has no price: set its metadata.price_id.';
  const customer = readCustomer(session);
  return [
    {
      kind: 'payment',
      transactionId: readReference(session['payment_intent']) ?? checkoutId,
      checkoutId,
      subscriptionId: null,
      origin: 'purchase',
      customerId: readReference(session['customer']),
      customer,
      occurredAt: event.createdAt,
      period: null,
      lines,
      total: readInteger(session['amount_total']),
    },
    ...customerFacts(event, customer),
  ];
}

function readFirstOfSubscription(event: StripeEvent): Interpretation {
  const session = event.object;
  const checkoutId = requireId(event, 'id');
  const customer = readCustomer(session);
  return [
    {
      kind: 'payment',
      transactionId: readReference(session['invoice']) ?? checkoutId,
      checkoutId,
      subscriptionId: readReference(session['subscription']),
      origin: session['payment_status'] === 'unpaid' ? 'other' : 'purchase',
      customerId: readReference(session['customer']),
      customer,
      // The start of the checkout is before the payment of the invoice, whose lines and total count.
      occurredAt: readUnixSeconds(session['created']) ?? event.createdAt,
      period: null,
      lines: [],
      total: readInteger(session['amount_total']),
    },
    ...customerFacts(event, customer),
  ];
}

/** The buyer as entered at the checkout, which is newer than the customer's own events. */
function customerFacts(
  { object, createdAt }: StripeEvent,
  customer: CustomerDetails,
): BillingFact[] {
  const customerId = readReference(object['customer']);
  if (customerId === null) return [];
  return [{ kind: 'customer', customerId, occurredAt: createdAt, customer }];
}

function readCustomer(session: JsonObject): CustomerDetails {
  const details = readObject(session['customer_details']);
  const locale = readText(session['locale'], 35);
  return {
    email: readEmail(details['email']) ?? readEmail(session['customer_email']),
    name: readText(details['name']),
    locale: locale === 'auto' ? null : locale,
  };
}

/**
 * Reads the lines of a one-time payment. Stripe's webhook lacks the line items (unless a proxy expanded them), so they come
 * from `metadata.price_id` and, if more than one was sold, `metadata.quantity`.
 */
function readSessionLines(session: JsonObject): BillingLine[] {
  const expanded = readExpandedLines(session);
  if (expanded.length > 0) return expanded;
  const metadata = readObject(session['metadata']);
  const priceId = readId(metadata['price_id']);
  if (priceId === null) return [];
  // The values of metadata are texts.
  const quantity = readQuantity(Number(metadata['quantity'] ?? 1));
  return [{ lineId: priceId, priceId, quantity, cycle: null, total: null }];
}

function readExpandedLines(session: JsonObject): BillingLine[] {
  return readList(readObject(session['line_items'])['data']).flatMap((entry) => {
    const item = readObject(entry);
    const priceId = readReference(item['price']);
    if (priceId === null) return [];
    return {
      lineId: readReference(item) ?? priceId,
      priceId,
      quantity: readQuantity(item['quantity']),
      cycle: readPriceCycle(item['price']),
      total: readInteger(item['amount_total']),
    };
  });
}
