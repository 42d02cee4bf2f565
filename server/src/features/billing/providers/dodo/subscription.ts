import {
  INTERVALS,
  type BillingCycle,
  type BillingPeriod,
  type SubscriptionFact,
} from '../../facts.ts';
import { requireId, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { readOrderOptions } from '../custom-data.ts';
import {
  readId,
  readInteger,
  readObject,
  readPeriod,
  readQuantity,
  readText,
  readTime,
  readWord,
  type JsonObject,
} from '../fields.ts';
import { readBuyer } from './payments.ts';

const DAY_MS = 86_400_000;

/** `on_hold`: a renewal could not be paid. `expired`: its fixed number of periods is over. */
const STATUSES: ReadonlyMap<unknown, SubscriptionFact['status']> = new Map([
  ['active', 'active'],
  ['on_hold', 'past_due'],
  ['paused', 'paused'],
  ['cancelled', 'canceled'],
  ['expired', 'canceled'],
]);

const NOT_STARTED = new Set<unknown>(['pending', 'failed']);

/**
 * Reads the snapshot of a subscription, with its own id as that of the checkout: it is the one that the front end receives. The
 * body is its state at the delivery, which may be newer than the event.
 */
export function readSubscription(event: ProviderEvent): Interpretation {
  const { data, occurrence, occurredAt } = event;
  const subscriptionId = requireId(event, 'subscription_id');
  if (NOT_STARTED.has(data['status'])) return 'The subscription is not paid yet.';
  const known = STATUSES.get(data['status']);
  if (known === undefined) return 'The subscription has an unknown status.';
  const period = readPeriod({
    starts_at: data['previous_billing_date'],
    ends_at: data['next_billing_date'],
  });
  const status = known === 'active' && isTrial(data, period) ? 'trialing' : known;
  const isRunning = status !== 'paused' && status !== 'canceled';
  return [
    {
      kind: 'subscription',
      subscriptionId,
      transactionId: subscriptionId,
      customerId: readId(readObject(data['customer'])['customer_id']),
      customer: readBuyer(data),
      ...occurrence,
      status,
      period: isRunning ? period : null,
      pausedAt: status === 'paused' ? (readTime(data['paused_at']) ?? occurredAt) : null,
      canceledAt:
        status === 'canceled'
          ? (readTime(data['cancelled_at']) ?? readTime(data['expires_at']) ?? occurredAt)
          : null,
      scheduledChange: isRunning ? readScheduledChange(data, period) : null,
      lines: readLines(data, subscriptionId),
      ...readOrderOptions(data['metadata']),
      ...readWord(data['status']),
    },
  ];
}

/** Whether the current period is the trial, which ends so many days after the subscription was created. */
function isTrial(data: JsonObject, period: BillingPeriod | null): boolean {
  const days = readInteger(data['trial_period_days']) ?? 0;
  const createdAt = readTime(data['created_at']);
  if (days <= 0 || createdAt === null || period === null) return false;
  return period.endsAt.getTime() <= createdAt.getTime() + (days + 1) * DAY_MS;
}

function readScheduledChange(
  data: JsonObject,
  period: BillingPeriod | null,
): SubscriptionFact['scheduledChange'] {
  if (data['cancel_at_next_billing_date'] !== true || period === null) return null;
  return { action: 'cancel', effectiveAt: period.endsAt };
}

/** The line has the id of the subscription, so that it stays the same when the product changes. */
function readLines(data: JsonObject, lineId: string): SubscriptionFact['lines'] {
  const priceId = readId(data['product_id']);
  if (priceId === null) return [];
  const quantity = readQuantity(data['quantity']);
  const total = readInteger(data['recurring_pre_tax_amount']);
  return [{ lineId, priceId, quantity, cycle: readCycle(data), total }];
}

function readCycle(data: JsonObject): BillingCycle | null {
  const name = readText(data['payment_frequency_interval'], 10)?.toLowerCase();
  const interval = INTERVALS.find((known) => known === name);
  if (interval === undefined) return null;
  return { interval, frequency: readInteger(data['payment_frequency_count']) ?? 1 };
}
