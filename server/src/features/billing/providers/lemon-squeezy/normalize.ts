import type { BillingEvent } from '../../facts.ts';
import type { WebhookDelivery } from '../adapter.ts';
import { toBillingEvent, type Reading } from '../reading.ts';
import { readEnvelope, type LemonSqueezyEvent } from './envelope.ts';
import { readInvoice, readRefundedInvoice } from './invoice.ts';
import { readOrder, readRefundedOrder } from './order.ts';
import { readSubscription } from './subscription.ts';

const READERS: ReadonlyMap<string, (event: LemonSqueezyEvent) => Reading> = new Map([
  ['order_created', readOrder],
  ['order_refunded', readRefundedOrder],
  ['subscription_created', readSubscription],
  ['subscription_updated', readSubscription],
  ['subscription_cancelled', readSubscription],
  ['subscription_resumed', readSubscription],
  ['subscription_expired', readSubscription],
  ['subscription_paused', readSubscription],
  ['subscription_unpaused', readSubscription],
  ['subscription_plan_changed', readSubscription],
  ['subscription_payment_success', readInvoice],
  ['subscription_payment_recovered', readInvoice],
  ['subscription_payment_refunded', readRefundedInvoice],
]);

/**
 * Says what an event of Lemon Squeezy's means.
 * @throws MalformedEventError for a body that is no event, or has no id where its name promises one
 * @see https://docs.lemonsqueezy.com/help/webhooks/event-types
 */
export function normalizeLemonSqueezy(body: unknown, { rawBody }: WebhookDelivery): BillingEvent {
  const event = readEnvelope(body, rawBody);
  const { eventId, name, occurrence } = event;
  return toBillingEvent(
    { provider: 'lemonsqueezy', eventId, type: name, occurredAt: occurrence.occurredAt },
    READERS.get(name)?.(event),
  );
}
