import type {
  BillingCycle,
  BillingLine,
  CustomerDetails,
  CustomerFact,
  Occurrence,
} from '../../facts.ts';
import { readEmail } from '../fields.ts';
import type { Customer, Cycle, Subscription, Transaction } from './schemas.ts';

const NAME = /^[^\p{Cc}\p{Cs}]{1,200}$/u;
const LOCALE = /^[A-Za-z0-9-]{2,35}$/;

/** Where a vendor's checkout may have put the buyer's address. */
const CUSTOM_EMAILS = ['customer_email', 'customerEmail', 'email'];

/** Who pays; what cannot be used is not known. */
export function toCustomerFact(customer: Customer, occurrence: Occurrence): CustomerFact {
  return {
    kind: 'customer',
    customerId: customer.id,
    ...occurrence,
    customer: readCustomerDetails(customer),
  };
}

/** Reads what a customer is like, in an event or as the API has it. */
export function readCustomerDetails({
  email,
  name,
  locale,
}: Pick<Customer, 'email' | 'name' | 'locale'>): CustomerDetails {
  return {
    email: readEmail(email),
    name: readText(name, NAME),
    locale: readText(locale, LOCALE),
  };
}

/** Transactions and subscriptions say nothing of the buyer, unless the vendor's own data does. */
export function readCustomData(customData: unknown): CustomerDetails {
  const email = CUSTOM_EMAILS.map((field) => readEmail(readField(customData, field)));
  return { email: email.find((value) => value !== null) ?? null, name: null, locale: null };
}

function readField(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return null;
  return new Map<string, unknown>(Object.entries(value)).get(field);
}

function readText(value: unknown, form: RegExp): string | null {
  const text = typeof value === 'string' ? value.trim() : '';
  return form.test(text) ? text : null;
}

const INTERVALS = ['day', 'week', 'month', 'year'] as const;
const MAX_FREQUENCY = 1_000;

/**
 * What was bought, in the order of the items, each with the id of its line item, by which refunds name it. Null when one of
 * them is paid in a way that is not known: taken for one that is paid once, it would make a license for ever.
 */
export function readTransactionLines({ items, details }: Transaction): BillingLine[] | null {
  const open = [...(details?.line_items ?? [])];
  const lines: BillingLine[] = [];
  for (const { price, quantity } of items) {
    const cycle = readCycle(price.billing_cycle);
    if (cycle === 'unknown') return null;
    const index = open.findIndex((lineItem) => lineItem.price_id === price.id);
    const [lineItem] = index < 0 ? [] : open.splice(index, 1);
    lines.push({
      lineId: lineItem?.id ?? price.id,
      priceId: price.id,
      quantity: quantity ?? 1,
      cycle,
      total: readAmount(lineItem?.totals?.total),
    });
  }
  return lines;
}

/**
 * What a subscription renews, in the order of its items; what was only charged once with it is not among it. Null when one
 * of them is paid in a way that is not known.
 */
export function readSubscriptionLines(subscription: Subscription): BillingLine[] | null {
  const lines: BillingLine[] = [];
  for (const { price, quantity, recurring } of subscription.items) {
    if (recurring === false) continue;
    const cycle = readCycle(price.billing_cycle ?? subscription.billing_cycle);
    if (cycle === 'unknown') return null;
    // Items have no id of their own.
    lines.push({
      lineId: price.id,
      priceId: price.id,
      quantity: quantity ?? 1,
      cycle,
      total: null,
    });
  }
  return lines;
}

function readCycle(cycle: Cycle | null | undefined): BillingCycle | null | 'unknown' {
  if (cycle == null) return null;
  const interval = INTERVALS.find((known) => known === cycle.interval);
  const { frequency } = cycle;
  if (interval === undefined || typeof frequency !== 'number') return 'unknown';
  const isCount = Number.isInteger(frequency) && frequency >= 1 && frequency <= MAX_FREQUENCY;
  return isCount ? { interval, frequency } : 'unknown';
}

/** Up to what a number holds exactly. */
const AMOUNT = /^-?\d{1,15}$/;

/** Reads an amount in the currency's smallest unit, which Paddle writes as a text; null for what is none. */
export function readAmount(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && AMOUNT.test(text) ? Number(text) : null;
}
