import { UNKNOWN_CUSTOMER, type BillingPeriod, type SubscriptionFact } from '../../facts.ts';
import { describeUnknownValue } from '../../rules/event-state.ts';
import {
  readObject,
  readObjects,
  readReference,
  readUnixSeconds,
  readWord,
  type JsonObject,
} from '../fields.ts';
import { requireId, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { readMetadata, readOrderOptions } from '../custom-data.ts';
import { readUnixPeriod, readSubscriptionLines } from './lines.ts';

export function readSubscription(event: ProviderEvent): Interpretation {
  const subscription = event.data;
  const status = readStatus(subscription);
  if (status === null) return describeUnknownValue('the subscription has an unknown status');
  const period = readCurrentPeriod(subscription);
  return [
    {
      kind: 'subscription',
      subscriptionId: requireId(event, 'id'),
      // In later events the latest invoice is that of a renewal.
      transactionId:
        event.type === 'customer.subscription.created'
          ? readReference(subscription['latest_invoice'])
          : null,
      customerId: readReference(subscription['customer']),
      customer: UNKNOWN_CUSTOMER,
      occurredAt: orderWithinSecond(event),
      status,
      period: isPaidInAdvance(subscription) && isRunning(status) ? period : null,
      pausedAt: null,
      // canceled_at is the time of the request, possibly long before the end.
      canceledAt: status === 'canceled' ? readUnixSeconds(subscription['ended_at']) : null,
      scheduledChange: readScheduledChange(subscription, status, period),
      lines: readSubscriptionLines(subscription),
      ...readOrderOptions(...readMetadata(subscription)),
      ...readWord(subscription['status']),
    },
  ];
}

/**
 * Orders events within a second, since Stripe's times are in whole seconds and a subscription may be created and activated
 * within one: the creation is first, the deletion last.
 */
function orderWithinSecond({ type, occurredAt }: ProviderEvent): Date {
  if (type === 'customer.subscription.created') return occurredAt;
  const rank = type === 'customer.subscription.deleted' ? 2 : 1;
  return new Date(occurredAt.getTime() + rank);
}

/**
 * `unpaid` (the payment failed permanently) counts as paused, and so does a `void` pause of the collection: the seller does
 * not provide the service. In the other kinds of pause the service continues.
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

/** With `send_invoice` a subscription is active before it is paid, so its period is not a proof of payment. */
function isPaidInAdvance(subscription: JsonObject): boolean {
  return subscription['collection_method'] !== 'send_invoice';
}

/** Until API version 2025-03-31 (Basil) the subscription has the period, since then each of its items. */
function readCurrentPeriod(subscription: JsonObject): BillingPeriod | null {
  const own = readUnixPeriod(
    subscription['current_period_start'],
    subscription['current_period_end'],
  );
  if (own !== null) return own;
  const periods = readObjects(subscription['items']).flatMap(
    (item) => readUnixPeriod(item['current_period_start'], item['current_period_end']) ?? [],
  );
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
