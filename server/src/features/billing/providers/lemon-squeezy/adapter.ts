import { createHash } from 'node:crypto';

import {
  defineAdapter,
  type Interpretation,
  type ProviderEvent,
  type Verification,
  type VerifyOptions,
  type WebhookDelivery,
} from '../adapter.ts';
import { readId, readName, readObject, readOccurrence } from '../fields.ts';
import { matchesHmac, readHeader, readSignature } from '../signatures.ts';
import { readInvoice, readOrder, readRefundedInvoice, readRefundedOrder } from './payments.ts';
import { readSubscription } from './subscription.ts';

const READERS: ReadonlyMap<string, (event: ProviderEvent) => Interpretation> = new Map([
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
 * Verifies a signature of Lemon Squeezy: `X-Signature` is the HMAC-SHA256 of the raw body under the webhook's secret, in
 * hexadecimal. The time is not signed, so nothing is stale; a replayed event is recognized by its id, a hash of the body.
 * @see https://docs.lemonsqueezy.com/help/webhooks/signing-requests
 */
function verify({ headers, rawBody }: WebhookDelivery, { secrets }: VerifyOptions): Verification {
  const header = readHeader(headers, 'x-signature');
  if (header === null) return 'missing';
  const signature = readSignature(header, 'hex');
  if (signature === null) return 'malformed';
  return matchesHmac([rawBody], secrets, [signature]) ? 'valid' : 'mismatch';
}

/**
 * Translates an event of Lemon Squeezy. It has no id; the SHA-256 of the body, which is the same at each delivery, is used
 * instead. The data are the attributes of the object (JSON:API) and its id.
 * @throws MalformedEventError if the body is not an event, or lacks an id that its name requires
 * @see https://docs.lemonsqueezy.com/help/webhooks/event-types
 */
export const lemonSqueezyAdapter = defineAdapter({
  provider: 'lemonsqueezy',
  verify,
  fields: {
    eventId: 'body',
    type: 'meta.event_name',
    occurrence: 'data.attributes.updated_at',
    data: 'data.id',
  },
  read: (body, { rawBody }) => {
    const data = readObject(body['data']);
    const attributes = readObject(data['attributes']);
    const id = readId(data['id']);
    const meta = readObject(body['meta']);
    return {
      eventId: createHash('sha256').update(rawBody).digest('hex'),
      type: readName(meta['event_name']),
      occurrence:
        readOccurrence(attributes['updated_at']) ?? readOccurrence(attributes['created_at']),
      data: id === null ? undefined : { ...attributes, id, custom_data: meta['custom_data'] },
      isTest: meta['test_mode'] === true || attributes['test_mode'] === true,
    };
  },
  interpret: (event) => READERS.get(event.type)?.(event),
});
