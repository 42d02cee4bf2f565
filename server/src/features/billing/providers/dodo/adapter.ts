import { defineAdapter, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { isObject, readName, readOccurrence } from '../fields.ts';
import { verifyStandardWebhook } from '../standard-webhooks/verify.ts';
import { DISPUTE_TYPES, readDispute, readPayment, readRefund } from './payments.ts';
import { readSubscription } from './subscription.ts';

type Reader = (event: ProviderEvent) => Interpretation;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['payment.succeeded', readPayment],
  ['refund.succeeded', readRefund],
  ...DISPUTE_TYPES.map((type) => [type, readDispute] as const),
  ['subscription.active', readSubscription],
  ['subscription.renewed', readSubscription],
  ['subscription.updated', readSubscription],
  ['subscription.plan_changed', readSubscription],
  ['subscription.on_hold', readSubscription],
  ['subscription.paused', readSubscription],
  ['subscription.unpaused', readSubscription],
  ['subscription.cancelled', readSubscription],
  ['subscription.failed', readSubscription],
  ['subscription.expired', readSubscription],
]);

/**
 * Translates an event of Dodo Payments, signed by the Standard Webhooks specification. Its id is the header `webhook-id`.
 * @throws MalformedEventError if the body is not an event, or lacks an id that its type requires
 * @see https://docs.dodopayments.com/developer-resources/webhooks
 */
export const dodoAdapter = defineAdapter({
  provider: 'dodo',
  verify: (delivery, options) => verifyStandardWebhook(delivery, options),
  fields: { eventId: 'header webhook-id', type: 'type', occurrence: 'timestamp', data: 'data' },
  read: ({ type, timestamp, data }, { headers }) => ({
    eventId: readName(headers['webhook-id']),
    type: readName(type),
    occurrence: readOccurrence(timestamp),
    data: isObject(data) ? data : undefined,
  }),
  interpret: (event) => READERS.get(event.type)?.(event),
});
