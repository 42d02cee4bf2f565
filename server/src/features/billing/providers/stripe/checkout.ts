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
import type { Reading } from '../adapter.ts';
import { requireId, type StripeEvent } from './envelope.ts';
import { readPriceCycle } from './lines.ts';

/**
 * Reads a checkout that was gone through. What was paid once is a payment under its payment intent, for refunds and
 * disputes name that one. What is paid again and again is told by the first invoice, so this says only that the checkout
 * belongs to it, as a word that is older than the invoice's own.
 */
export function readCheckout(event: StripeEvent): Reading {
  const session = event.object;
  const mode = readText(session['mode']);
  if (mode === 'payment') return readOneTime(event);
  if (mode === 'subscription') return readFirstOfSubscription(event);
  return 'The checkout sold nothing.';
}

function readOneTime(event: StripeEvent): Reading {
  const session = event.object;
  const checkoutId = requireId(event, 'id');
  if (session['payment_status'] === 'unpaid') return 'The payment is still under way.';
  const lines = readSessionLines(session);
  if (lines.length === 0) return 'The checkout names no price: set metadata.price_id on it.';
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

function readFirstOfSubscription(event: StripeEvent): Reading {
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
      // When the checkout was opened: before the invoice was paid, whose lines and total are the ones that count.
      occurredAt: readUnixSeconds(session['created']) ?? event.createdAt,
      period: null,
      lines: [],
      total: readInteger(session['amount_total']),
    },
    ...customerFacts(event, customer),
  ];
}

/** The buyer as typed into the checkout: newer than what the customer's own events say. */
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
 * What was sold once. Stripe sends a session without its line items (they are there only where a relay expanded them), so
 * `metadata.price_id`, and `metadata.quantity` where it is more than one, tell what was sold.
 */
function readSessionLines(session: JsonObject): BillingLine[] {
  const expanded = readExpandedLines(session);
  if (expanded.length > 0) return expanded;
  const metadata = readObject(session['metadata']);
  const priceId = readId(metadata['price_id']);
  if (priceId === null) return [];
  // Metadata are texts.
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
