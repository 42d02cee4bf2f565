import type { BillingEvent } from '../../facts.ts';
import {
  toBillingEvent,
  type BillingAdapter,
  type Interpretation,
  type Verification,
  type VerifyOptions,
  type WebhookDelivery,
} from '../adapter.ts';
import { matchesHmac, readHeader, readSignature } from '../signatures.ts';
import { readEnvelope, type LemonSqueezyEvent } from './envelope.ts';
import { readInvoice, readOrder, readRefundedInvoice, readRefundedOrder } from './payments.ts';
import { readSubscription } from './subscription.ts';

export const lemonSqueezyAdapter: BillingAdapter = {
  provider: 'lemonsqueezy',
  verify: verifyLemonSqueezy,
  normalize: normalizeLemonSqueezy,
};

const READERS: ReadonlyMap<string, (event: LemonSqueezyEvent) => Interpretation> = new Map([
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
 * Translates an event of Lemon Squeezy.
 * @throws MalformedEventError if the body is not an event, or lacks an id that its name requires
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
 * Verifies a signature of Lemon Squeezy: `X-Signature` is the HMAC-SHA256 of the raw body under the webhook's secret, in
 * hexadecimal. The time is not signed, so nothing is stale; a replayed event is recognized by its id, a hash of the body.
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
