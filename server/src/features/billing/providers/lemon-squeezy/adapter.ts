import type { BillingEvent } from '../../facts.ts';
import {
  toBillingEvent,
  type BillingAdapter,
  type Reading,
  type Verification,
  type VerifyOptions,
  type WebhookDelivery,
} from '../adapter.ts';
import { matchesHmac, readHeader, readSignature } from '../signatures.ts';
import { readEnvelope, type LemonSqueezyEvent } from './envelope.ts';
import { readInvoice, readOrder, readRefundedInvoice, readRefundedOrder } from './payments.ts';
import { readSubscription } from './subscription.ts';

/** Lemon Squeezy: orders, subscriptions and their invoices. */
export const lemonSqueezyAdapter: BillingAdapter = {
  provider: 'lemonsqueezy',
  verify: verifyLemonSqueezy,
  normalize: normalizeLemonSqueezy,
};

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

/**
 * Verifies a delivery by Lemon Squeezy's scheme: `X-Signature` is the HMAC-SHA256 of the raw body under the webhook's
 * secret, in hexadecimal. No time is signed, so nothing is ever stale: what is sent again is known by its event's id, which
 * is made of the body.
 * @see https://docs.lemonsqueezy.com/help/webhooks/signing-requests
 */
export function verifyLemonSqueezy(
  { headers, rawBody }: WebhookDelivery,
  { secrets }: VerifyOptions,
): Verification {
  const header = readHeader(headers, 'x-signature');
  if (header === null) return { ok: false, reason: 'missing' };
  const signature = readSignature(header, 'hex');
  if (signature === null) return { ok: false, reason: 'malformed' };
  return matchesHmac([rawBody], secrets, [signature])
    ? { ok: true }
    : { ok: false, reason: 'mismatch' };
}
