import {
  LINKING_PAYMENT,
  type BillingPeriod,
  type PaymentFact,
  type SubscriptionFact,
} from '../../facts.ts';
import { inferCycle } from '../../rules/billing-cycle.ts';
import { describeUnknownValue } from '../../rules/event-state.ts';
import {
  readId,
  readObject,
  readOccurrence,
  readQuantity,
  readTime,
  readWord,
  type JsonObject,
} from '../fields.ts';
import { requireId, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { readOrderOptions } from '../custom-data.ts';
import { qualifyId, readBuyer } from './payments.ts';

/**
 * Reads the snapshot, order and paid period of a subscription. Its invoices contain neither order nor period.
 * `renews_at` of an active subscription is reliable, because a failed payment sets it to `past_due` at once, and to
 * `unpaid` or `expired` after two weeks of retries.
 */
export function readSubscription(event: ProviderEvent): Interpretation {
  const { data: attributes, occurrence } = event;
  const status = readStatus(attributes);
  if (status === null) return describeUnknownValue('the subscription has an unknown status');
  const period = readCurrentPeriod(event);
  const subscriptionId = requireId(event, 'id');
  const snapshot: SubscriptionFact = {
    kind: 'subscription',
    subscriptionId,
    // The event of the order contains the id of the checkout.
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
    ...readOrderOptions(attributes['custom_data']),
    ...readWord(attributes['status']),
  };
  const order: PaymentFact = {
    ...LINKING_PAYMENT,
    transactionId: qualifyId('order', requireId(event, 'order_id')),
    subscriptionId,
    ...(readOccurrence(attributes['created_at']) ?? occurrence),
  };
  if (period === null) return [snapshot, order];
  // The invoice contains the amount.
  const paidPeriod: PaymentFact = {
    ...LINKING_PAYMENT,
    transactionId: `${qualifyId('subscription', subscriptionId)}:${period.endsAt.toISOString()}`,
    subscriptionId,
    ...occurrence,
    origin: 'change',
    period,
  };
  return [snapshot, order, paidPeriod];
}

/**
 * A `cancelled` subscription is active until it is `expired`. `unpaid` (the payment failed permanently) counts as
 * paused. In a `free` pause the service continues.
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

/** Reads the paid period; `renews_at` of a past due or paused subscription is the next payment attempt. */
function readCurrentPeriod({ data: attributes, occurrence }: ProviderEvent): BillingPeriod | null {
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

/** The billing cycle is inferred from the first period, unless that is a trial. */
function readLines(
  { type, data: attributes }: ProviderEvent,
  period: BillingPeriod | null,
): SubscriptionFact['lines'] {
  const variantId = readId(attributes['variant_id']);
  if (variantId === null) return [];
  const isFirst = type === 'subscription_created' && attributes['status'] === 'active';
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
