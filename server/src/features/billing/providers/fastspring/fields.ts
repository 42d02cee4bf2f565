/** Readers of the fields of FastSpring, which are null for values of the wrong type. */
import { decimalsOf } from '@latchkey/contract/payment-providers';

import type { BillingCycle, CustomerDetails, Occurrence } from '../../facts.ts';
import { MalformedEventError, type ProviderEvent } from '../adapter.ts';
import { isObject, readEmail, readId, readObject, readText, type JsonObject } from '../fields.ts';

const DAY_MS = 86_400_000;

/** The last millisecond of the year 9999. */
const MAX_MS = 253_402_300_799_999;

/** Reads a time in milliseconds since 1970. */
export function readMillis(value: unknown): Date | null {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return null;
  return value > 0 && value <= MAX_MS ? new Date(value) : null;
}

export function readOccurrence(value: unknown): Occurrence | null {
  const occurredAt = readMillis(value);
  return occurredAt === null ? null : { occurredAt };
}

/** Reads a date that includes its whole day, such as the last day of a canceled subscription; returns the end of that day. */
export function readEndOfDay(value: unknown): Date | null {
  const day = readMillis(value);
  return day === null ? null : new Date(day.getTime() + DAY_MS);
}

/**
 * Reads an amount, which FastSpring writes in whole units with decimals, as a number of the currency's smallest unit. The digits
 * are shifted as text: 19.99 is 1,999 cents exactly.
 */
export function readAmount(value: unknown, currency: unknown): number | null {
  if (typeof value !== 'number' || typeof currency !== 'string') return null;
  const amount = Math.round(Number(`${value}e${decimalsOf('fastspring', currency.toUpperCase())}`));
  return Number.isSafeInteger(amount) ? amount : null;
}

/** Reads the id of an object, which webhook expansion writes in place of its id. Older objects have their id in two fields. */
export function readReference(value: unknown, ownField: string): string | null {
  if (!isObject(value)) return readId(value);
  return readId(value['id']) ?? readId(value[ownField]);
}

/** Reads the path of a product, which the catalogue has as a price. */
export function readProduct(value: unknown): string | null {
  return readId(isObject(value) ? (value['product'] ?? value['id']) : value);
}

const INTERVALS = ['day', 'week', 'month', 'year'] as const;

const MAX_INTERVALS = 1_000;

/** Reads the billing cycle of a subscription; null if the seller decides when to charge. */
export function readCycle(subscription: JsonObject): BillingCycle | null {
  const interval = INTERVALS.find((known) => known === subscription['intervalUnit']);
  const frequency = subscription['intervalLength'];
  if (interval === undefined || typeof frequency !== 'number') return null;
  const isPlausible = Number.isSafeInteger(frequency) && frequency > 0;
  return isPlausible && frequency <= MAX_INTERVALS ? { interval, frequency } : null;
}

/** Reads the name and address of a contact. @param language of the order or account */
export function readContact(value: unknown, language: unknown): CustomerDetails {
  const contact = readObject(value);
  const names = [readText(contact['first']), readText(contact['last'])];
  const name = names.filter((part) => part !== null).join(' ');
  return {
    email: readEmail(contact['email']),
    name: name === '' ? null : name,
    locale: readText(language, 35),
  };
}

/** Reads an id that the event's type requires. @throws MalformedEventError if it is missing */
export function requireReference(value: unknown, field: string, event: ProviderEvent): string {
  const id = readReference(value, field);
  if (id === null) throw new MalformedEventError(`The data of ${event.type} lack ${field}.`, event);
  return id;
}

/** Names the payment of a further subscription of an order: each subscription is a separate purchase. */
export function nameSubscriptionOfOrder(orderId: string, subscriptionId: string): string {
  return `${orderId}:${subscriptionId}`;
}
