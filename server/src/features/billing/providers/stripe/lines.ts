import type { BillingCycle, BillingLine, BillingPeriod } from '../../facts.ts';
import { inferCycle } from '../../rules/billing-cycle.ts';
import {
  readInteger,
  readList,
  readObject,
  readQuantity,
  readReference,
  readUnixSeconds,
  type JsonObject,
} from '../fields.ts';

/** A line of an invoice, and the span that it pays for, where it is one of a subscription. */
export interface InvoiceLine {
  readonly line: BillingLine;
  readonly period: BillingPeriod | null;
}

/** Reads how often a price is paid; null for a price that is paid once, or is told by its id only. */
export function readPriceCycle(price: unknown): BillingCycle | null {
  const recurring = readObject(readObject(price)['recurring']);
  return readCycle(recurring['interval'], recurring['interval_count']);
}

/**
 * Reads what an invoice sells, without the credits and charges that make up for a change within a period. API versions
 * differ: until 2025-03-31 (Basil) a line has `price`, `subscription_item` and `proration` of its own, since then
 * `pricing.price_details` and `parent`, and no longer the price's interval, which is then taken from the span.
 */
export function readInvoiceLines(invoice: JsonObject): InvoiceLine[] {
  return readList(readObject(invoice['lines'])['data'])
    .map(readObject)
    .flatMap((line) => readInvoiceLine(line) ?? [])
    .sort((a, b) => compareText(a.line.lineId, b.line.lineId));
}

/** Reads the positions of a subscription, in the same order as those of its invoices. */
export function readSubscriptionLines(subscription: JsonObject): BillingLine[] {
  return readList(readObject(subscription['items'])['data'])
    .map(readObject)
    .flatMap((item) => {
      const price = item['price'] ?? item['plan'];
      const priceId = readReference(price);
      if (priceId === null) return [];
      return {
        lineId: readReference(item) ?? priceId,
        priceId,
        quantity: readQuantity(item['quantity']),
        cycle: readPriceCycle(price) ?? readPlanCycle(item['plan']),
        total: null,
      };
    })
    .sort((a, b) => compareText(a.lineId, b.lineId));
}

/** Reads a span from two fields of seconds; null when one of its ends is not told. */
export function readSpan(starts: unknown, ends: unknown): BillingPeriod | null {
  const startsAt = readUnixSeconds(starts);
  const endsAt = readUnixSeconds(ends);
  return startsAt === null || endsAt === null ? null : { startsAt, endsAt };
}

function readInvoiceLine(line: JsonObject): InvoiceLine | null {
  const parent = readObject(line['parent']);
  const price =
    line['price'] ??
    readObject(readObject(line['pricing'])['price_details'])['price'] ??
    line['plan'];
  const priceId = readReference(price);
  if (priceId === null || isMakeUp(line, parent)) return null;
  const quantity = readQuantity(line['quantity']);
  const sold = { lineId: readLineId(line, parent) ?? priceId, priceId, quantity, total: null };
  if (line['type'] !== 'subscription' && parent['type'] !== 'subscription_item_details') {
    return { line: { ...sold, cycle: null }, period: null };
  }
  const span = readObject(line['period']);
  const period = readSpan(span['start'], span['end']);
  const told = readPriceCycle(price) ?? readPlanCycle(line['plan']);
  const cycle = told ?? (period === null ? null : inferCycle(period));
  // Without one it would count as paid once, so for ever.
  return cycle === null ? null : { line: { ...sold, cycle }, period };
}

/** Whether a line only makes up for a change within a period. */
function isMakeUp(line: JsonObject, parent: JsonObject): boolean {
  const details = [line, parent['subscription_item_details'], parent['invoice_item_details']];
  const amount = readInteger(line['amount']) ?? 0;
  return amount < 0 || details.some((each) => readObject(each)['proration'] === true);
}

/** The position's id where the line is one of a subscription, for that one stays the same from invoice to invoice. */
function readLineId(line: JsonObject, parent: JsonObject): string | null {
  const item = readObject(parent['subscription_item_details'])['subscription_item'];
  return readReference(item) ?? readReference(line['subscription_item']) ?? readReference(line);
}

/** Plans are what prices were before 2020; old subscriptions still have them. */
function readPlanCycle(plan: unknown): BillingCycle | null {
  const { interval, interval_count: count } = readObject(plan);
  return readCycle(interval, count);
}

function readCycle(interval: unknown, count: unknown): BillingCycle | null {
  const frequency = readQuantity(count);
  switch (interval) {
    case 'day':
    case 'week':
    case 'month':
    case 'year':
      return { interval, frequency };
    default:
      return null;
  }
}

/** Invoices list the newest position first, subscriptions the oldest; ids grow with time. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
