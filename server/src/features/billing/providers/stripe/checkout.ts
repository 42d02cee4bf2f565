import {
  LINKING_PAYMENT,
  type BillingFact,
  type BillingLine,
  type CustomerDetails,
  type PaymentFact,
} from '../../facts.ts';
import {
  readCountry,
  readCurrency,
  readEmail,
  readId,
  readInteger,
  readObject,
  readQuantity,
  readReference,
  readTax,
  readText,
  readUnixSeconds,
  type JsonObject,
} from '../fields.ts';
import { requireId, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { readLicenseReference, readMetadata, readOrderOptions } from '../custom-data.ts';
import { findUnpaidReason } from '../unpaid.ts';
import { readLineItems } from './lines.ts';

const STATES = { paid: ['paid', 'no_payment_required'], unpaid: ['unpaid'] };

/**
 * Reads a completed checkout. A one-time payment has the id of its payment intent, which refunds and disputes refer to. A
 * subscription is paid by its first invoice; the fact here only links the checkout to that invoice, and is older than the
 * fact of the invoice.
 */
export function readCheckout(event: ProviderEvent): Interpretation {
  const { data: session, occurredAt } = event;
  const mode = readText(session['mode']);
  const status = session['payment_status'];
  if (mode === 'payment') {
    const checkoutId = requireId(event, 'id');
    const unpaid = findUnpaidReason(status, STATES, 'The payment is not completed.');
    if (unpaid !== null) return unpaid;
    const lines = readSessionLines(session);
    const transactionId = readReference(session['payment_intent']) ?? checkoutId;
    const invoice = readReference(session['invoice']);
    return toFacts(event, {
      checkoutId,
      transactionId,
      // The invoice contains the lines.
      ...(invoice === null ? {} : { aliases: [invoice] }),
      origin: 'purchase',
      occurredAt,
      lines,
      ...findProblem(session, lines),
    });
  }
  if (mode !== 'subscription') return 'The checkout is neither a payment nor a subscription.';
  const checkoutId = requireId(event, 'id');
  return toFacts(event, {
    checkoutId,
    transactionId: readReference(session['invoice']) ?? checkoutId,
    subscriptionId: readReference(session['subscription']),
    origin: status === 'unpaid' ? 'other' : 'purchase',
    // The start of the checkout is before the payment of the invoice, whose lines and total count.
    occurredAt: readUnixSeconds(session['created']) ?? occurredAt,
  });
}

/** A payment link has the same metadata for each buyer, who may change the quantity. */
function findProblem(session: JsonObject, lines: readonly BillingLine[]): Partial<PaymentFact> {
  if (lines.length === 0) {
    return {
      problem:
        'Stripe does not report what this checkout sold. Set LATCHKEY_STRIPE_API_KEY and replay the event, and Stripe is asked; or set metadata.price_id on the session or payment link, or let it create an invoice, for the next sales, and issue a license for this one.',
    };
  }
  const { quantity } = readObject(session['metadata']);
  const isKnown = quantity !== undefined || readLineItems(session['line_items']).length > 0;
  if (isKnown || readReference(session['payment_link']) === null) return {};
  return {
    problem:
      'Stripe does not report how many were sold by this payment link, and one was assumed. Set LATCHKEY_STRIPE_API_KEY and replay the event, and Stripe is asked; or let the link create an invoice, or set its metadata.quantity if customers cannot adjust it; compare the amount of this sale, and change the limit of machines if more were sold.',
  };
}

/** Returns the payment, and the buyer as entered at the checkout, which is newer than the customer's own events. */
function toFacts(
  { data: session, occurredAt }: ProviderEvent,
  payment: Pick<PaymentFact, 'checkoutId' | 'transactionId' | 'origin' | 'occurredAt'> &
    Partial<PaymentFact>,
): BillingFact[] {
  const customer = readCustomer(session);
  const customerId = readReference(session['customer']);
  const total = readInteger(session['amount_total']);
  const paid = {
    ...LINKING_PAYMENT,
    customerId,
    customer,
    total,
    ...readMoney(session),
    // The address of a payment link can contain this, but no metadata.
    ...readOrderOptions(
      ...readMetadata(session),
      readLicenseReference(session['client_reference_id']),
    ),
    ...payment,
  };
  return customerId === null
    ? [paid]
    : [paid, { kind: 'customer', customerId, occurredAt, customer }];
}

function readMoney(session: JsonObject): Pick<PaymentFact, 'currency' | 'tax' | 'country'> {
  const tax = readInteger(readObject(session['total_details'])['amount_tax']);
  const details = readObject(session['customer_details']);
  return {
    ...readCurrency(session['currency']),
    ...readTax(tax, readInteger(session['amount_total'])),
    ...readCountry(readObject(details['address'])['country']),
  };
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
  const expanded = readLineItems(session['line_items']);
  if (expanded.length > 0) return expanded;
  const metadata = readObject(session['metadata']);
  const priceId = readId(metadata['price_id']);
  if (priceId === null) return [];
  // The values of metadata are texts.
  const quantity = readQuantity(toNumber(metadata['quantity'] ?? 1));
  return [{ lineId: priceId, priceId, quantity, cycle: null, total: null }];
}

/** An empty text is no number, although `Number` reads it as 0. */
function toNumber(value: unknown): number {
  return value === '' ? Number.NaN : Number(value);
}
