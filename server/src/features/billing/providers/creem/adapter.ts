import {
  defineAdapter,
  type Interpretation,
  type ProviderEvent,
  type Verification,
  type VerifyOptions,
  type WebhookDelivery,
} from '../adapter.ts';
import type { Occurrence } from '../../facts.ts';
import { isObject, readInteger, readName, readOccurrence, readUnixSeconds } from '../fields.ts';
import { matchesHmac, readHeader, readSignature } from '../signatures.ts';
import { readCheckout, readDispute, readRefund, readSubscription } from './facts.ts';

const READERS: ReadonlyMap<string, (event: ProviderEvent) => Interpretation> = new Map([
  ['checkout.completed', readCheckout],
  ['subscription.active', readSubscription],
  ['subscription.trialing', readSubscription],
  ['subscription.paid', readSubscription],
  ['subscription.update', readSubscription],
  ['subscription.scheduled_cancel', readSubscription],
  ['subscription.canceled', readSubscription],
  ['subscription.past_due', readSubscription],
  ['subscription.unpaid', readSubscription],
  ['subscription.paused', readSubscription],
  ['subscription.expired', readSubscription],
  ['refund.created', readRefund],
  ['dispute.created', readDispute],
]);

const TEST_MODES = new Set<unknown>(['test', 'sandbox', 'local']);

/**
 * Verifies a signature of Creem: `creem-signature` is the HMAC-SHA256 of the raw body under the webhook's secret, in
 * hexadecimal. The time is not signed, so nothing is stale; a replayed event is recognized by its id.
 * @see https://docs.creem.io/code/webhooks
 */
function verify({ headers, rawBody }: WebhookDelivery, { secrets }: VerifyOptions): Verification {
  const header = readHeader(headers, 'creem-signature');
  if (header === null) return 'missing';
  const signature = readSignature(header, 'hex');
  if (signature === null) return 'malformed';
  return matchesHmac([rawBody], secrets, [signature]) ? 'valid' : 'mismatch';
}

/**
 * Translates an event of Creem. Its data are in `object`, whose mode marks test purchases.
 * @throws MalformedEventError if the body is not an event, or lacks an id that its type requires
 * @see https://docs.creem.io/learn/webhooks/event-types
 */
export const creemAdapter = defineAdapter({
  provider: 'creem',
  verify,
  fields: { eventId: 'id', type: 'eventType', occurrence: 'created_at', data: 'object' },
  read: ({ id, eventType, created_at: createdAt, object }) => ({
    eventId: readName(id),
    type: readName(eventType),
    occurrence: readCreationTime(createdAt),
    data: isObject(object) ? object : undefined,
    isTest: isObject(object) && TEST_MODES.has(object['mode']),
  }),
  interpret: (event) => READERS.get(event.type)?.(event),
});

/** In milliseconds since 1970, or as a text. */
function readCreationTime(value: unknown): Occurrence | null {
  const milliseconds = readInteger(value);
  if (milliseconds === null) return readOccurrence(value);
  const second = readUnixSeconds(Math.floor(milliseconds / 1000));
  return second && { occurredAt: new Date(milliseconds) };
}
