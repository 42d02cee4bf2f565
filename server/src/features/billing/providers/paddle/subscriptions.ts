import type { Occurrence, SubscriptionFact } from '../../facts.ts';
import { readCustomData } from './customers.ts';
import { readSubscriptionLines } from './lines.ts';
import { ignored, type Reading } from './reading.ts';
import type { Subscription } from './schemas.ts';
import { readPeriod, readTime } from '../times.ts';

const STATUSES = ['active', 'trialing', 'past_due', 'paused', 'canceled'] as const;
const ACTIONS = ['cancel', 'pause', 'resume'] as const;

/** How a subscription is: every event of one holds all of it. */
export function readSubscription(subscription: Subscription, occurrence: Occurrence): Reading {
  const status = STATUSES.find((known) => known === subscription.status);
  if (status === undefined) return ignored('The subscription has a status that is not known.');
  const lines = readSubscriptionLines(subscription);
  if (lines === null) return ignored('The subscription has a billing cycle that is not known.');
  const fact: SubscriptionFact = {
    kind: 'subscription',
    subscriptionId: subscription.id,
    transactionId: subscription.transaction_id ?? null,
    customerId: subscription.customer_id ?? null,
    customer: readCustomData(subscription.custom_data),
    ...occurrence,
    status,
    period: readPeriod(subscription.current_billing_period),
    pausedAt: readTime(subscription.paused_at),
    canceledAt: readTime(subscription.canceled_at),
    scheduledChange: readScheduledChange(subscription.scheduled_change),
    lines,
  };
  return { fact };
}

function readScheduledChange(
  change: Subscription['scheduled_change'],
): SubscriptionFact['scheduledChange'] {
  const action = ACTIONS.find((known) => known === change?.action);
  const effectiveAt = readTime(change?.effective_at);
  return action === undefined || effectiveAt === null ? null : { action, effectiveAt };
}
