import type { SubscriptionFact } from '../../facts.ts';
import { requireId, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { readLicenseReference, readOrderOptions } from '../custom-data.ts';
import {
  readId,
  readObject,
  readInteger,
  readPeriod,
  readReference,
  readTime,
  readWord,
  type JsonObject,
} from '../fields.ts';
import { readBuyer, readCycle, toLine } from './orders.ts';

/** An unpaid subscription has no benefits, and returns once it is paid. */
const STATUSES: ReadonlyMap<unknown, SubscriptionFact['status']> = new Map([
  ['active', 'active'],
  ['trialing', 'trialing'],
  ['past_due', 'past_due'],
  ['paused', 'paused'],
  ['unpaid', 'paused'],
  ['canceled', 'canceled'],
]);

/** The first payment is missing: no license depends on it yet. */
const NOT_STARTED = new Set<unknown>(['incomplete', 'incomplete_expired']);

/** Reads the snapshot of a subscription. `subscription.canceled` is one that still runs; `subscription.revoked` ends it. */
export function readSubscription(event: ProviderEvent): Interpretation {
  const { data, occurrence } = event;
  const subscriptionId = requireId(event, 'id');
  if (NOT_STARTED.has(data['status'])) return 'The subscription is not paid yet.';
  const status = STATUSES.get(data['status']);
  if (status === undefined) return 'The subscription has an unknown status.';
  const productId = readId(data['product_id']) ?? readReference(data['product']);
  const isRunning = status !== 'paused' && status !== 'canceled';
  return [
    {
      kind: 'subscription',
      subscriptionId,
      transactionId: readId(data['checkout_id']),
      customerId: readId(data['customer_id']),
      customer: readBuyer(data),
      ...occurrence,
      status,
      period: isRunning
        ? readPeriod({
            starts_at: data['current_period_start'],
            ends_at: data['current_period_end'],
          })
        : null,
      pausedAt: status === 'paused' ? (readTime(data['paused_at']) ?? event.occurredAt) : null,
      canceledAt: status === 'canceled' ? findEnd(event) : null,
      scheduledChange: isRunning ? readScheduledChange(data) : null,
      lines:
        productId === null
          ? []
          : [toLine(data, subscriptionId, productId, readCycle(data), readInteger(data['amount']))],
      ...readOrderOptions(
        data['metadata'],
        readLicenseReference(readObject(data['metadata'])['reference_id']),
      ),
      ...readWord(data['status']),
    },
  ];
}

function findEnd({ data, occurredAt }: ProviderEvent): Date {
  return readTime(data['ended_at']) ?? readTime(data['ends_at']) ?? occurredAt;
}

function readScheduledChange(data: JsonObject): SubscriptionFact['scheduledChange'] {
  if (data['cancel_at_period_end'] !== true) return null;
  const effectiveAt = readTime(data['ends_at']) ?? readTime(data['current_period_end']);
  return effectiveAt && { action: 'cancel', effectiveAt };
}
