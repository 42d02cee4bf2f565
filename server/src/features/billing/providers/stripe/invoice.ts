import type { BillingPeriod, PaymentFact } from '../../facts.ts';
import {
  readEmail,
  readInteger,
  readList,
  readObject,
  readReference,
  readText,
  readUnixSeconds,
  type JsonObject,
} from '../fields.ts';
import type { Reading } from '../adapter.ts';
import { requireId, type StripeEvent } from './envelope.ts';
import { readInvoiceLines, type InvoiceLine } from './lines.ts';

const NOBODY = { email: null, name: null, locale: null };

/** Reads an invoice that was paid: the first of a subscription is its purchase, the later ones are its renewals. */
export function readInvoice(event: StripeEvent): Reading {
  const invoice = event.object;
  const transactionId = requireId(event, 'id');
  const subscriptionId = findSubscription(invoice);
  const lines = readInvoiceLines(invoice);
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
      occurredAt: readUnixSeconds(transitions['paid_at']) ?? event.createdAt,
      period: findPeriod(lines),
      lines: lines.map(({ line }) => line),
      // What came in: credit from before is not money that could go back.
      total: readInteger(invoice['amount_paid']) ?? readInteger(invoice['total']),
    },
  ];
}

/**
 * Reads which payment intent paid an invoice. Since API version 2025-03-31 (Basil) an invoice does not say so, and refunds
 * and disputes name the intent only. It is told as a word on the invoice's payment that is older than the invoice's own,
 * hence replaces nothing of it.
 */
export function readInvoicePayment(event: StripeEvent): Reading {
  const transactionId = readReference(event.object['invoice']);
  const alias = readPaidBy(event.object);
  if (transactionId === null || alias === null) return 'It names no invoice, or not what paid it.';
  const createdAt = readUnixSeconds(event.object['created']) ?? event.createdAt;
  return [
    {
      kind: 'payment',
      transactionId,
      aliases: [alias],
      subscriptionId: null,
      origin: 'other',
      customerId: null,
      customer: NOBODY,
      occurredAt: new Date(createdAt.getTime() - 1000),
      period: null,
      lines: [],
      total: null,
    },
  ];
}

/** An invoice outside a subscription is one that a checkout sends after the payment, or the seller by hand. */
function readOrigin(reason: unknown): PaymentFact['origin'] {
  switch (reason) {
    case 'subscription_create':
      return 'purchase';
    case 'subscription_cycle':
      return 'renewal';
    case 'subscription':
    case 'subscription_update':
    case 'subscription_threshold':
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
  const listed = readList(readObject(invoice['payments'])['data']).map((entry) =>
    readPaidBy(readObject(entry)),
  );
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
