import type { BillingPeriod, SubscriptionFact } from '../../facts.ts';
import {
  readList,
  readObject,
  readReference,
  readUnixSeconds,
  type JsonObject,
} from '../fields.ts';
import type { Reading } from '../adapter.ts';
import { requireId, type StripeEvent } from './envelope.ts';
import { readSpan, readSubscriptionLines } from './lines.ts';

/** Reads how a subscription is. */
export function readSubscription(event: StripeEvent): Reading {
  const subscription = event.object;
  const status = readStatus(subscription);
  if (status === null) return 'The status of the subscription is not known.';
  const period = readPresentPeriod(subscription);
  return [
    {
      kind: 'subscription',
      subscriptionId: requireId(event, 'id'),
      // Later on the latest invoice is a renewal's.
      transactionId:
        event.type === 'customer.subscription.created'
          ? readReference(subscription['latest_invoice'])
          : null,
      customerId: readReference(subscription['customer']),
      customer: { email: null, name: null, locale: null },
      occurredAt: orderWithinSecond(event),
      status,
      period: isPaidAhead(subscription) && isRunning(status) ? period : null,
      pausedAt: null,
      // canceled_at is when the end was asked for, which may be long before it.
      canceledAt: status === 'canceled' ? readUnixSeconds(subscription['ended_at']) : null,
      scheduledChange: readScheduledChange(subscription, status, period),
      lines: readSubscriptionLines(subscription),
    },
  ];
}

/**
 * Stripe's clock has whole seconds, and a subscription is created and becomes active within one: what created it is put
 * first and what deleted it last.
 */
function orderWithinSecond({ type, createdAt }: StripeEvent): Date {
  if (type === 'customer.subscription.created') return createdAt;
  const rank = type === 'customer.subscription.deleted' ? 2 : 1;
  return new Date(createdAt.getTime() + rank);
}

/**
 * A subscription whose payment failed for good (`unpaid`) rests, as one does whose collection is paused because the seller
 * cannot serve (`void`); in the other two ways of pausing the collection the seller goes on serving.
 */
function readStatus(subscription: JsonObject): SubscriptionFact['status'] | null {
  const collection = readObject(subscription['pause_collection'])['behavior'];
  switch (subscription['status']) {
    case 'active':
      return collection === 'void' ? 'paused' : 'active';
    case 'trialing':
      return collection === 'void' ? 'paused' : 'trialing';
    case 'past_due':
    case 'incomplete':
      return 'past_due';
    case 'unpaid':
    case 'paused':
      return 'paused';
    case 'canceled':
    case 'incomplete_expired':
      return 'canceled';
    default:
      return null;
  }
}

function isRunning(status: SubscriptionFact['status']): boolean {
  return status !== 'paused' && status !== 'canceled';
}

/** Where an invoice is sent, a subscription is active before anything is paid: its period proves nothing. */
function isPaidAhead(subscription: JsonObject): boolean {
  return subscription['collection_method'] !== 'send_invoice';
}

/** Until API version 2025-03-31 (Basil) the subscription has the period, since then each of its positions. */
function readPresentPeriod(subscription: JsonObject): BillingPeriod | null {
  const own = readSpan(subscription['current_period_start'], subscription['current_period_end']);
  if (own !== null) return own;
  const periods = readList(readObject(subscription['items'])['data'])
    .map(readObject)
    .flatMap((item) => readSpan(item['current_period_start'], item['current_period_end']) ?? []);
  return periods.sort((a, b) => b.endsAt.getTime() - a.endsAt.getTime())[0] ?? null;
}

function readScheduledChange(
  subscription: JsonObject,
  status: SubscriptionFact['status'],
  period: BillingPeriod | null,
): SubscriptionFact['scheduledChange'] {
  if (status === 'canceled') return null;
  const atPeriodEnd = subscription['cancel_at_period_end'] === true ? period?.endsAt : undefined;
  const cancelsAt = readUnixSeconds(subscription['cancel_at']) ?? atPeriodEnd;
  if (cancelsAt !== undefined) return { action: 'cancel', effectiveAt: cancelsAt };
  const resumesAt = readUnixSeconds(readObject(subscription['pause_collection'])['resumes_at']);
  return status === 'paused' && resumesAt !== null
    ? { action: 'resume', effectiveAt: resumesAt }
    : null;
}
