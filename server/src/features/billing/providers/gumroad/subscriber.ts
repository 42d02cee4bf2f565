import { UNKNOWN_CUSTOMER, type SubscriptionFact } from '../../facts.ts';
import { MalformedEventError, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { readId, readObject, readTime, readWord, type JsonObject } from '../fields.ts';

/**
 * Reads the state of a membership as Gumroad's API returned it. It has no period, which follows from the charges, and no tier,
 * which the sales contain.
 */
export function readSubscriber(event: ProviderEvent): Interpretation {
  const subscriber = readObject(event.data['subscriber']);
  const subscriptionId = readId(subscriber['id']);
  if (subscriptionId === null) throw new MalformedEventError('The membership lacks id.', event);
  const status = readStatus(subscriber, event.occurredAt);
  return status === null
    ? 'The membership has an unknown status.'
    : [toSnapshot(subscriber, subscriptionId, status, event.occurredAt)];
}

function toSnapshot(
  subscriber: JsonObject,
  subscriptionId: string,
  status: SubscriptionFact['status'],
  askedAt: Date,
): SubscriptionFact {
  const cancelsAt = readTime(subscriber['cancelled_at']);
  const isEnding = subscriber['status'] === 'pending_cancellation' && cancelsAt !== null;
  return {
    kind: 'subscription',
    subscriptionId,
    transactionId: null,
    customerId: null,
    customer: UNKNOWN_CUSTOMER,
    occurredAt: askedAt,
    status,
    period: null,
    pausedAt: null,
    canceledAt: status === 'canceled' ? readEnd(subscriber) : null,
    scheduledChange: isEnding ? { action: 'cancel', effectiveAt: cancelsAt } : null,
    lines: [],
    ...readWord(subscriber['status']),
  };
}

function readStatus(subscriber: JsonObject, askedAt: Date): SubscriptionFact['status'] | null {
  switch (subscriber['status']) {
    case 'alive':
    case 'pending_cancellation':
      return isInTrial(subscriber, askedAt) ? 'trialing' : 'active';
    case 'pending_failure':
      return 'past_due';
    case 'failed_payment':
    case 'fixed_subscription_period_ended':
    case 'cancelled':
      return 'canceled';
    default:
      return null;
  }
}

function isInTrial(subscriber: JsonObject, askedAt: Date): boolean {
  const endsAt = readTime(subscriber['free_trial_ends_at']);
  return endsAt !== null && endsAt > askedAt;
}

function readEnd(subscriber: JsonObject): Date | null {
  return (
    readTime(subscriber['ended_at']) ??
    readTime(subscriber['cancelled_at']) ??
    readTime(subscriber['failed_at'])
  );
}
