import {
  INTERVALS,
  type BillingCycle,
  type BillingLine,
  type BillingPeriod,
  type PaymentFact,
} from '../../facts.ts';
import { inferCycle } from '../../rules/billing-cycle.ts';
import { compareText } from '../../rules/compare-facts.ts';
import {
  readInteger,
  readList,
  readObject,
  readObjects,
  readQuantity,
  readReference,
  readUnixSeconds,
  type JsonObject,
} from '../fields.ts';

/** A line of an invoice, and its period if it belongs to a subscription. */
export interface InvoiceLine {
  readonly line: BillingLine;
  readonly period: BillingPeriod | null;
}

/** Reads the line items of a checkout session, in their order. */
export function readLineItems(list: unknown): BillingLine[] {
  return readObjects(list).flatMap((item) => {
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

/** Reads the billing cycle of a price; null for a one-time price, or one that is not expanded. */
function readPriceCycle(price: unknown): BillingCycle | null {
  const recurring = readObject(readObject(price)['recurring']);
  return readCycle(recurring['interval'], recurring['interval_count']);
}

/**
 * Reads the lines of an invoice, except prorations. Until API version 2025-03-31 (Basil) a line has `price`,
 * `subscription_item` and `proration`, since then `pricing.price_details` and `parent`; the price's interval is then missing
 * and inferred from the period.
 */
export function readInvoiceLines(invoice: JsonObject): InvoiceLine[] {
  return readObjects(invoice['lines'])
    .flatMap((line) => readInvoiceLine(line) ?? [])
    .sort((a, b) => compareText(a.line.lineId, b.line.lineId));
}

/** Reads the items of a subscription, in the same order as the lines of its invoices: by id, because ids grow with time. */
export function readSubscriptionLines(subscription: JsonObject): BillingLine[] {
  const items = readObjects(subscription['items']);
  const lines = items
    .flatMap((item) => {
      const price = item['price'] ?? item['plan'];
      const priceId = readReference(price);
      if (priceId === null) return [];
      const line = {
        lineId: readReference(item) ?? priceId,
        priceId,
        quantity: readQuantity(item['quantity']),
        cycle: readPriceCycle(price) ?? readPlanCycle(item['plan']),
        total: null,
      };
      return {
        line,
        period: readUnixPeriod(item['current_period_start'], item['current_period_end']),
      };
    })
    .sort((a, b) => compareText(a.line.lineId, b.line.lineId));
  return withOwnPeriods(lines);
}

/** Adds their periods to lines that have different ones; otherwise all have that of the invoice or subscription. */
export function withOwnPeriods(lines: readonly InvoiceLine[]): BillingLine[] {
  const ends = new Set(lines.flatMap(({ period }) => period?.endsAt.getTime() ?? []));
  return lines.map(({ line, period }) =>
    ends.size > 1 && period !== null ? { ...line, period } : line,
  );
}

/** Reads the credits and charges of an invoice for changes within a period. */
export function readProrations(invoice: JsonObject): NonNullable<PaymentFact['prorations']> {
  return readObjects(invoice['lines']).flatMap((line) => {
    const parent = readObject(line['parent']);
    const priceId = readReference(readLinePrice(line));
    const span = readObject(line['period']);
    const period = readUnixPeriod(span['start'], span['end']);
    if (priceId === null || period === null || !isProration(line, parent)) return [];
    const lineId = readLineId(line, parent) ?? priceId;
    return [{ lineId, priceId, isCredit: (readInteger(line['amount']) ?? 0) < 0, period }];
  });
}

/** Reads a period from two times in seconds; null if one is missing. */
export function readUnixPeriod(starts: unknown, ends: unknown): BillingPeriod | null {
  const startsAt = readUnixSeconds(starts);
  const endsAt = readUnixSeconds(ends);
  return startsAt === null || endsAt === null ? null : { startsAt, endsAt };
}

function readInvoiceLine(line: JsonObject): InvoiceLine | null {
  const parent = readObject(line['parent']);
  const price = readLinePrice(line);
  const priceId = readReference(price);
  if (priceId === null || isProration(line, parent)) return null;
  const quantity = readQuantity(line['quantity']);
  const lineId = readLineId(line, parent) ?? priceId;
  const sold = { lineId, priceId, quantity, total: readLineTotal(line) };
  if (line['type'] !== 'subscription' && parent['type'] !== 'subscription_item_details') {
    return { line: { ...sold, cycle: null }, period: null };
  }
  const span = readObject(line['period']);
  const period = readUnixPeriod(span['start'], span['end']);
  const reported = readPriceCycle(price) ?? readPlanCycle(line['plan']);
  const cycle = reported ?? (period === null ? null : inferCycle(period));
  // Without a cycle it would count as a one-time purchase, which is perpetual.
  return cycle === null ? null : { line: { ...sold, cycle }, period };
}

/** Reads what a line costs after discounts, with the taxes that its amount lacks. */
function readLineTotal(line: JsonObject): number | null {
  const amount = readInteger(line['amount']);
  if (amount === null) return null;
  // Until API version 2025-03-31 (Basil) `tax_amounts`, since then `taxes`.
  const taxes =
    sumAmounts(line['taxes'], (tax) => tax['tax_behavior'] === 'exclusive') +
    sumAmounts(line['tax_amounts'], (tax) => tax['inclusive'] === false);
  return amount - sumAmounts(line['discount_amounts'], () => true) + taxes;
}

function sumAmounts(list: unknown, isCounted: (each: JsonObject) => boolean): number {
  return readList(list)
    .map(readObject)
    .filter(isCounted)
    .reduce((total, each) => total + (readInteger(each['amount']) ?? 0), 0);
}

function readLinePrice(line: JsonObject): unknown {
  const details = readObject(readObject(line['pricing'])['price_details']);
  return line['price'] ?? details['price'] ?? line['plan'];
}

/** Whether a line is a credit or charge for a change within a period. */
function isProration(line: JsonObject, parent: JsonObject): boolean {
  const details = [line, parent['subscription_item_details'], parent['invoice_item_details']];
  const amount = readInteger(line['amount']) ?? 0;
  return amount < 0 || details.some((each) => readObject(each)['proration'] === true);
}

/** The id of the subscription item, if any, because it is the same in all invoices. */
function readLineId(line: JsonObject, parent: JsonObject): string | null {
  const item = readObject(parent['subscription_item_details'])['subscription_item'];
  return readReference(item) ?? readReference(line['subscription_item']) ?? readReference(line);
}

/** Subscriptions from before 2020 have plans instead of prices. */
function readPlanCycle(plan: unknown): BillingCycle | null {
  const { interval, interval_count: count } = readObject(plan);
  return readCycle(interval, count);
}

function readCycle(interval: unknown, count: unknown): BillingCycle | null {
  const known = INTERVALS.find((each) => each === interval);
  const frequency = readQuantity(count);
  return known === undefined || frequency < 1 ? null : { interval: known, frequency };
}
