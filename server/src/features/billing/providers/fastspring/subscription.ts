import {
  UNKNOWN_CUSTOMER,
  type BillingPeriod,
  type CustomerDetails,
  type Occurrence,
  type SubscriptionFact,
} from '../../facts.ts';
import { MalformedEventError, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { readOrderOptions } from '../custom-data.ts';
import { isObject, readQuantity, readWord, type JsonObject } from '../fields.ts';
import {
  readAmount,
  readContact,
  readCycle,
  readEndOfDay,
  readMillis,
  readProduct,
  readReference,
} from './fields.ts';

/** Reads an event about a subscription, which is the data or, in events about charges, a part of them. */
export function readSubscription(event: ProviderEvent): Interpretation {
  const subscription = findSubscription(event.data);
  if (subscription === null) {
    return 'It contains no state of the subscription, which other events report.';
  }
  const snapshot = toSnapshot(subscription, event);
  return snapshot === null ? 'The subscription has an unknown state.' : [snapshot];
}

/** Finds the subscription of an event; null if only its id is in it, because webhook expansion is disabled. */
function findSubscription(data: JsonObject): JsonObject | null {
  const own = data['subscription'];
  if (isObject(own)) return own;
  return data['state'] === undefined ? null : data;
}

/**
 * Converts a subscription, or returns null if its state is unknown. Its order is that of its last change, because a manual
 * repetition of an event has a new time and an old or refreshed content.
 * @param atLeast the time of an event that the subscription includes
 * @throws MalformedEventError if it has no id
 */
export function toSnapshot(
  subscription: JsonObject,
  event: ProviderEvent,
  atLeast: Date | null = null,
): SubscriptionFact | null {
  const status = readStatus(subscription);
  if (status === null) return null;
  const subscriptionId = readReference(subscription, 'subscription');
  if (subscriptionId === null) {
    throw new MalformedEventError(`The data of ${event.type} lack the subscription's id.`, event);
  }
  const occurrence = readChange(subscription, event, atLeast);
  return {
    kind: 'subscription',
    subscriptionId,
    // The order names its subscriptions, of which it may have several.
    transactionId: null,
    customerId: readReference(subscription['account'], 'account'),
    customer: readAccountHolder(subscription['account']),
    ...occurrence,
    status,
    period: isRunning(status) ? readPeriod(subscription) : null,
    pausedAt: null,
    canceledAt: status === 'canceled' ? readEnd(subscription, occurrence) : null,
    scheduledChange: readScheduledChange(subscription),
    lines: readLines(subscription, subscriptionId),
    ...readOrderOptions(subscription['tags']),
    ...readWord(subscription['state']),
  };
}

function readChange(
  subscription: JsonObject,
  event: ProviderEvent,
  atLeast: Date | null,
): Occurrence {
  const changed = readMillis(subscription['changed']) ?? event.occurredAt;
  return { occurredAt: atLeast !== null && atLeast > changed ? atLeast : changed };
}

/** A `canceled` subscription runs until it is `deactivated`. */
function readStatus(subscription: JsonObject): SubscriptionFact['status'] | null {
  switch (subscription['state']) {
    case 'active':
    case 'canceled':
      return 'active';
    case 'trial':
      return 'trialing';
    case 'overdue':
      return 'past_due';
    case 'paused':
      return 'paused';
    case 'deactivated':
      return 'canceled';
    default:
      return null;
  }
}

function isRunning(status: SubscriptionFact['status']): boolean {
  return status === 'active' || status === 'trialing';
}

/** Reads the period until the next charge. Dates are days in UTC; the last day of a canceled subscription is included. */
export function readPeriod(subscription: JsonObject): BillingPeriod | null {
  const startsAt = readMillis(subscription['begin']);
  const last = readEndOfDay(subscription['deactivationDate']);
  const next =
    readMillis(subscription['next']) ??
    readMillis(subscription['nextChargeDate']) ??
    readEndOfDay(subscription['end']);
  const endsAt = subscription['state'] === 'canceled' ? (last ?? next) : next;
  return startsAt === null || endsAt === null ? null : { startsAt, endsAt };
}

/** The end of a deactivated subscription; its last day may not be over yet. */
function readEnd(subscription: JsonObject, { occurredAt }: Occurrence): Date {
  const end = readEndOfDay(subscription['end']) ?? readEndOfDay(subscription['deactivationDate']);
  return end !== null && end < occurredAt ? end : occurredAt;
}

function readScheduledChange(subscription: JsonObject): SubscriptionFact['scheduledChange'] {
  if (subscription['state'] !== 'canceled') return null;
  const effectiveAt = readPeriod(subscription)?.endsAt ?? null;
  return effectiveAt === null ? null : { action: 'cancel', effectiveAt };
}

function readLines(subscription: JsonObject, subscriptionId: string): SubscriptionFact['lines'] {
  const priceId = readProduct(subscription['product']);
  if (priceId === null) return [];
  return [
    {
      lineId: subscriptionId,
      priceId,
      quantity: readQuantity(subscription['quantity']),
      cycle: readCycle(subscription),
      total: readAmount(subscription['subtotal'], subscription['currency']),
    },
  ];
}

/** Reads the contact of an account; unknown if only the id is there. */
function readAccountHolder(account: unknown): CustomerDetails {
  return isObject(account)
    ? readContact(account['contact'], account['language'])
    : UNKNOWN_CUSTOMER;
}

/** Reads a created or changed account. */
export function readAccount(event: ProviderEvent): Interpretation {
  const { data, occurrence, type } = event;
  const customerId = readReference(data, 'account');
  if (customerId === null) throw new MalformedEventError(`The data of ${type} lack id.`, event);
  return [{ kind: 'customer', customerId, ...occurrence, customer: readAccountHolder(data) }];
}
