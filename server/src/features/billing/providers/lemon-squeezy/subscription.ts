import type { BillingPeriod, Occurrence, PaymentFact, SubscriptionFact } from '../../facts.ts';
import { inferCycle } from '../../rules/billing-cycle.ts';
import {
  readId,
  readObject,
  readOccurrence,
  readQuantity,
  readTime,
  type JsonObject,
} from '../fields.ts';
import type { Reading } from '../adapter.ts';
import { nameObject, readBuyer, requireAttribute, type LemonSqueezyEvent } from './envelope.ts';

/**
 * Reads how a subscription is, to which order it belongs, and until when it is paid. Its invoices name neither the order
 * nor the period, so these come from here: `renews_at` of an active subscription is trusted, for one whose payment fails
 * becomes `past_due` at once and `unpaid` or `expired` at the end of two weeks of retries.
 */
export function readSubscription(event: LemonSqueezyEvent): Reading {
  const { attributes, occurrence } = event;
  const status = readStatus(attributes);
  if (status === null) return 'The status of the subscription is not known.';
  const period = readPresentPeriod(event);
  const snapshot: SubscriptionFact = {
    kind: 'subscription',
    subscriptionId: event.objectId,
    // The order's own event knows the id by which the checkout is asked for.
    transactionId: null,
    customerId: readId(attributes['customer_id']),
    customer: readBuyer(attributes),
    ...occurrence,
    status,
    period,
    pausedAt: null,
    canceledAt: status === 'canceled' ? readTime(attributes['ends_at']) : null,
    scheduledChange: readScheduledChange(attributes, status),
    lines: readLines(event, period),
  };
  const orderId = nameObject('order', requireAttribute(event, 'order_id'));
  const order = belongsTo(event, orderId, readOccurrence(attributes['created_at']) ?? occurrence);
  return period === null ? [snapshot, order] : [snapshot, order, paidUntil(event, period)];
}

/** A word on the order's payment that says nothing but which subscription it began. */
function belongsTo(
  event: LemonSqueezyEvent,
  transactionId: string,
  occurrence: Occurrence,
): PaymentFact {
  return {
    kind: 'payment',
    transactionId,
    subscriptionId: event.objectId,
    origin: 'other',
    customerId: null,
    customer: { email: null, name: null, locale: null },
    ...occurrence,
    period: null,
    lines: [],
    total: null,
  };
}

/** That a period is paid, told by the subscription; its money is told by the invoice. */
function paidUntil(event: LemonSqueezyEvent, period: BillingPeriod): PaymentFact {
  const subscription = nameObject('subscription', event.objectId);
  return {
    ...belongsTo(event, `${subscription}:${period.endsAt.toISOString()}`, event.occurrence),
    origin: 'change',
    period,
  };
}

/**
 * A cancelled subscription runs until it ends (`expired`). One whose payment failed for good (`unpaid`) rests, as one does
 * that is paused because the seller cannot serve; where the pause is `free`, the seller goes on serving.
 */
function readStatus(attributes: JsonObject): SubscriptionFact['status'] | null {
  switch (attributes['status']) {
    case 'active':
    case 'cancelled':
      return 'active';
    case 'on_trial':
      return 'trialing';
    case 'past_due':
      return 'past_due';
    case 'paused':
      return readObject(attributes['pause'])['mode'] === 'free' ? 'active' : 'paused';
    case 'unpaid':
      return 'paused';
    case 'expired':
      return 'canceled';
    default:
      return null;
  }
}

/** What is paid; `renews_at` of a subscription that is past due or paused is when a payment is tried again. */
function readPresentPeriod({ attributes, occurrence }: LemonSqueezyEvent): BillingPeriod | null {
  const endsAt = readEnd(attributes);
  if (endsAt === null) return null;
  return { startsAt: readTime(attributes['created_at']) ?? occurrence.occurredAt, endsAt };
}

function readEnd(attributes: JsonObject): Date | null {
  switch (attributes['status']) {
    case 'active':
      return readTime(attributes['renews_at']);
    case 'on_trial':
      return readTime(attributes['trial_ends_at']) ?? readTime(attributes['renews_at']);
    case 'cancelled':
      return readTime(attributes['ends_at']);
    default:
      return null;
  }
}

function readScheduledChange(
  attributes: JsonObject,
  status: SubscriptionFact['status'],
): SubscriptionFact['scheduledChange'] {
  const endsAt = readTime(attributes['ends_at']);
  if (attributes['status'] === 'cancelled' && endsAt !== null) {
    return { action: 'cancel', effectiveAt: endsAt };
  }
  const resumesAt = readTime(readObject(attributes['pause'])['resumes_at']);
  return status === 'paused' && resumesAt !== null
    ? { action: 'resume', effectiveAt: resumesAt }
    : null;
}

/** How often is paid can be seen in the first period only, and not where it is a trial. */
function readLines(
  { name, attributes }: LemonSqueezyEvent,
  period: BillingPeriod | null,
): SubscriptionFact['lines'] {
  const variantId = readId(attributes['variant_id']);
  if (variantId === null) return [];
  const isFirst = name === 'subscription_created' && attributes['status'] === 'active';
  return [
    {
      lineId: readId(attributes['order_item_id']) ?? variantId,
      priceId: variantId,
      quantity: readQuantity(readObject(attributes['first_subscription_item'])['quantity']),
      cycle: isFirst && period !== null ? inferCycle(period) : null,
      total: null,
    },
  ];
}
