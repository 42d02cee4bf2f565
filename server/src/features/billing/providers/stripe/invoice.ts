import { LINKING_PAYMENT, type BillingPeriod, type PaymentFact } from '../../facts.ts';
import {
  readCountry,
  readCurrency,
  readEmail,
  readInteger,
  readList,
  readObject,
  readObjects,
  readReference,
  readTax,
  readText,
  readUnixSeconds,
  readWord,
  type JsonObject,
} from '../fields.ts';
import { requireId, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { readMetadata, readOrderOptions } from '../custom-data.ts';
import { readInvoiceLines, readProrations, withOwnPeriods, type InvoiceLine } from './lines.ts';

/** Reads a paid invoice: the first one of a subscription is a purchase, later ones are renewals. */
export function readInvoice(event: ProviderEvent): Interpretation {
  const invoice = event.data;
  const transactionId = requireId(event, 'id');
  const subscriptionId = findSubscription(invoice);
  const lines = readInvoiceLines(invoice);
  const prorations = subscriptionId === null ? [] : readProrations(invoice);
  const transitions = readObject(invoice['status_transitions']);
  return [
    {
      kind: 'payment',
      transactionId,
      aliases: findPayments(invoice),
      subscriptionId,
      origin: subscriptionId === null ? 'other' : readOrigin(invoice['billing_reason']),
      customerId: readReference(invoice['customer']),
      customer: {
        email: readEmail(invoice['customer_email']),
        name: readText(invoice['customer_name']),
        locale: null,
      },
      occurredAt: readUnixSeconds(transitions['paid_at']) ?? event.occurredAt,
      period: findPeriod(lines),
      lines: withOwnPeriods(lines),
      ...(prorations.length === 0 ? {} : { prorations }),
      ...readMoney(invoice),
      ...readOrderOptions(...readMetadata(invoice)),
      ...readCountry(readObject(invoice['customer_address'])['country']),
      ...readWord(invoice['billing_reason']),
    },
  ];
}

/** Reads the amount received, because earlier credit cannot be refunded, and its tax. */
function readMoney(invoice: JsonObject): Pick<PaymentFact, 'total' | 'currency' | 'tax'> {
  const billed = readInteger(invoice['total']);
  const total = readInteger(invoice['amount_paid']) ?? billed;
  return {
    total,
    ...readCurrency(invoice['currency']),
    ...readTax(readBilledTax(invoice), total, billed ?? total),
  };
}

/** Since API version 2025-03-31 (Basil) an invoice lists its taxes instead of their sum. */
function readBilledTax(invoice: JsonObject): number | null {
  const taxes = invoice['total_taxes'] ?? invoice['total_tax_amounts'];
  if (!Array.isArray(taxes)) return readInteger(invoice['tax']);
  const amounts = readList(taxes).map((each) => readInteger(readObject(each)['amount']) ?? 0);
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

/**
 * Reads the payment intent of an invoice. Since API version 2025-03-31 (Basil) invoices do not contain it, but refunds and
 * disputes refer to it. The fact is older than that of the invoice, so that it overrides nothing.
 */
export function readInvoicePayment(event: ProviderEvent): Interpretation {
  const transactionId = readReference(event.data['invoice']);
  const alias = readPaidBy(event.data);
  if (transactionId === null || alias === null) return 'The invoice or its payment is missing.';
  const createdAt = readUnixSeconds(event.data['created']) ?? event.occurredAt;
  return [
    {
      ...LINKING_PAYMENT,
      transactionId,
      aliases: [alias],
      occurredAt: new Date(createdAt.getTime() - 1000),
    },
  ];
}

/** Reads the origin of an invoice of a subscription. Other invoices are sent after a checkout, or manually by the seller: `other`. */
function readOrigin(reason: unknown): PaymentFact['origin'] {
  switch (reason) {
    case 'subscription_create':
      return 'purchase';
    case 'subscription_cycle':
      return 'renewal';
    case 'subscription':
    case 'subscription_update':
    case 'subscription_threshold':
    // What the seller adds to a subscription and bills at once.
    case 'manual':
    case 'automatic_pending_invoice_item_invoice':
      return 'change';
    default:
      return 'other';
  }
}

function findSubscription(invoice: JsonObject): string | null {
  const parent = readObject(readObject(invoice['parent'])['subscription_details']);
  return readReference(invoice['subscription']) ?? readReference(parent['subscription']);
}

function findPayments(invoice: JsonObject): string[] {
  const listed = readObjects(invoice['payments']).map(readPaidBy);
  const own = [readReference(invoice['payment_intent']), readReference(invoice['charge'])];
  return [...own, ...listed].filter((id) => id !== null);
}

function readPaidBy(invoicePayment: JsonObject): string | null {
  const payment = readObject(invoicePayment['payment']);
  return readReference(payment['payment_intent']) ?? readReference(payment['charge']);
}

function findPeriod(lines: readonly InvoiceLine[]): BillingPeriod | null {
  const periods = lines.flatMap(({ period }) => period ?? []);
  return periods.sort((a, b) => b.endsAt.getTime() - a.endsAt.getTime())[0] ?? null;
}
