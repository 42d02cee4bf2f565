import {
  INTERVALS,
  type BillingCycle,
  type BillingLine,
  type CustomerDetails,
} from '../../facts.ts';
import { readEmail, readQuantity } from '../fields.ts';
import type { Customer, Cycle, Subscription, Transaction } from './schemas.ts';

const NAME = /^[^\p{Cc}\p{Cs}]{1,200}$/u;
const LOCALE = /^[A-Za-z0-9-]{2,35}$/;

/** The fields of custom data in which a checkout may store the buyer's address. */
const CUSTOM_EMAILS = ['customer_email', 'customerEmail', 'email'];

/** Reads the valid details of a customer, from an event or from the API. */
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

/** Reads the buyer from custom data: transactions and subscriptions contain no other details of it. */
export function readCustomData(customData: unknown): CustomerDetails {
  const email = CUSTOM_EMAILS.map((field) => readEmail(readField(customData, field)));
  return { email: email.find((value) => value !== null) ?? null, name: null, locale: null };
}

function readField(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return null;
  return new Map<string, unknown>(Object.entries(value)).get(field);
}

function readText(value: unknown, pattern: RegExp): string | null {
  const text = typeof value === 'string' ? value.trim() : '';
  return pattern.test(text) ? text : null;
}

const MAX_FREQUENCY = 1_000;

/** Paddle's limit. */
const MAX_QUANTITY = 999_999_999;

/**
 * Reads the lines of a transaction in the order of its items, with the ids of the line items, which refunds refer to. Null
 * if a billing cycle is unknown: as a one-time purchase the line would create a perpetual license.
 */
export function readTransactionLines({ items, details }: Transaction): BillingLine[] | null {
  const byPrice = Map.groupBy(details?.line_items ?? [], (lineItem) => lineItem.price_id);
  const open = new Map(Array.from(byPrice, ([id, lineItems]) => [id, lineItems.values()]));
  const lines: BillingLine[] = [];
  for (const { price, quantity } of items) {
    const cycle = readCycle(price.billing_cycle);
    if (cycle === 'unknown') return null;
    const lineItem = open.get(price.id)?.next().value;
    lines.push({
      lineId: lineItem?.id ?? price.id,
      priceId: price.id,
      quantity: readQuantity(quantity, MAX_QUANTITY),
      cycle,
      total: readAmount(lineItem?.totals?.total),
    });
  }
  return lines;
}

/**
 * Reads the recurring lines of a subscription in the order of its items. Null if a billing cycle is unknown.
 */
export function readSubscriptionLines(subscription: Subscription): BillingLine[] | null {
  const lines: BillingLine[] = [];
  for (const { price, quantity, recurring } of subscription.items) {
    if (recurring === false) continue;
    const cycle = readCycle(price.billing_cycle ?? subscription.billing_cycle);
    if (cycle === 'unknown') return null;
    // Items have no id.
    const { id: priceId } = price;
    lines.push({
      lineId: priceId,
      priceId,
      quantity: readQuantity(quantity, MAX_QUANTITY),
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

/** A number represents up to 15 digits exactly. */
const AMOUNT = /^-?\d{1,15}$/;

/** Reads an amount in the currency's smallest unit, which Paddle writes as a text. */
export function readAmount(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && AMOUNT.test(text) ? Number(text) : null;
}
