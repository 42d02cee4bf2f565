/** Payment events and what they report, as commands show them. */
import { writeAmount, type PaymentEvent, type Reported } from '@latchkey/contract';

import type { ReportedEvent } from '#server/features/billing/list-payment-events.ts';

import { commandProcess } from './command-process.ts';
import { formatFields, formatRows, joinSections, type Cell } from './table.ts';

/** A narrower terminal shows only what happened; --json and `webhook show` have the rest. */
const MIN_COLUMNS_FOR_ALL = 140;

type EventColumn = readonly [heading: string, read: (event: ReportedEvent) => Cell];

const EVENT: EventColumn = ['event', (event) => event.eventId];

const HAPPENED: readonly EventColumn[] = [
  ['kind', ({ reported }) => reported.kind],
  ['customer', ({ reported }) => reported.customer_email ?? reported.customer_name],
  ['products', ({ reported }) => describeProducts(reported)],
  ['amount', ({ reported }) => describeAmount(reported)],
  ['status', (event) => event.status],
];

const ALL: readonly EventColumn[] = [
  EVENT,
  ['provider', (event) => event.provider],
  ['type', (event) => event.type],
  ['status', (event) => event.status],
  ['attempts', (event) => event.attempts],
  ...HAPPENED.slice(0, -1),
  ['country', ({ reported }) => reported.country],
  ['reported', ({ reported }) => reported.reported],
  ['message', (event) => event.message],
  ['received', (event) => event.receivedAt],
];

/** Formats events as a table that fits the terminal; the ids of events are never shortened. */
export function formatEvents(events: readonly ReportedEvent[]): string {
  const width = commandProcess().stdout.columns;
  const isNarrow = width !== undefined && width < MIN_COLUMNS_FOR_ALL;
  const columns = isNarrow ? [EVENT, ...HAPPENED] : ALL;
  return formatRows(events, 'No matching events.', columns, width);
}

/** The products of an event or a payment by name, separated by commas; null without any. */
export function describeProducts({ products }: Pick<Reported, 'products'>): string | null {
  const names = products.map((each) => each.name ?? each.product_id ?? each.price_id ?? '');
  return names.length === 0 ? null : names.join(', ');
}

/** An amount as a decimal number with its currency; null without an amount. */
export function describeAmount({
  amount,
  amount_text: text,
  currency,
}: Pick<Reported, 'amount' | 'amount_text' | 'currency'>): string | null {
  if (text !== null && currency !== null) return `${text} ${currency}`;
  return amount === null ? null : `${amount} in the smallest unit`;
}

/** An event as JSON, without the body. */
export function toEventJson({ reported, ...event }: ReportedEvent) {
  return {
    event_id: event.eventId,
    provider: event.provider,
    type: event.type,
    status: event.status,
    ...reported,
    message: event.message,
    attempts: event.attempts,
    occurred_at: event.occurredAt,
    received_at: event.receivedAt,
    next_attempt_at: event.nextAttemptAt,
  };
}

/** Formats one event: what happened, what it did, and the licenses of its purchase. */
export function formatEvent(event: PaymentEvent): string {
  const customer = [event.customer_name, event.customer_email].filter((text) => text !== null);
  const fields = formatFields([
    ['event', event.event_id],
    ['provider', event.provider],
    ['type', event.type],
    ['kind', event.kind],
    ['customer', customer.length === 0 ? null : customer.join(', ')],
    ['products', describeProducts(event)],
    ['amount', describeAmount(event)],
    ['tax', describeTax(event)],
    ['country', event.country],
    ['reported', event.reported],
    ['occurred', new Date(event.occurred_at)],
    ['received', new Date(event.received_at)],
    ['state', event.state],
    ['summary', event.summary],
    ['advice', event.advice],
  ]);
  return joinSections(fields, formatFacts(event), formatLicenses(event));
}

function describeTax({ tax, decimals, currency }: PaymentEvent): string | null {
  if (tax === null || decimals === null) return null;
  return `${writeAmount(tax, decimals)} ${currency ?? ''}`.trimEnd();
}

function formatFacts({ effects }: PaymentEvent): string {
  return formatRows(effects, '', [
    ['fact', (effect) => effect.kind],
    ['id', (effect) => effect.id],
    ['text', (effect) => effect.text],
  ]);
}

/** Formats the licenses of the purchase of an event. */
export function formatLicenses({ licenses }: PaymentEvent): string {
  return formatRows(licenses, 'The purchase has no license.', [
    ['license', (license) => license.license_id],
    ['key', (license) => `…${license.key_hint}`],
    ['product', (license) => license.product],
    ['status', (license) => license.status],
    ['customer', (license) => license.customer_email],
  ]);
}
