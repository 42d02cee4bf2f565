import { defineAdapter, type Interpretation, type ProviderEvent } from '../adapter.ts';
import { isObject, readName, readOccurrence } from '../fields.ts';
import { verifyStandardWebhook } from '../standard-webhooks/verify.ts';
import { readCustomer, readOrder } from './orders.ts';
import { readSubscription } from './subscription.ts';

const READERS: ReadonlyMap<string, (event: ProviderEvent) => Interpretation> = new Map([
  ['order.paid', readOrder],
  ['order.updated', readOrder],
  ['order.refunded', readOrder],
  ['subscription.created', readSubscription],
  ['subscription.active', readSubscription],
  ['subscription.updated', readSubscription],
  ['subscription.cycled', readSubscription],
  ['subscription.canceled', readSubscription],
  ['subscription.uncanceled', readSubscription],
  ['subscription.past_due', readSubscription],
  ['subscription.paused', readSubscription],
  ['subscription.resumed', readSubscription],
  ['subscription.revoked', readSubscription],
  ['customer.created', readCustomer],
  ['customer.updated', readCustomer],
  ['refund.created', ignoreRefund],
  ['refund.updated', ignoreRefund],
]);

function ignoreRefund(): string {
  return 'The event order.refunded reports the refund.';
}

/**
 * Translates an event of Polar. It is signed by the Standard Webhooks specification, but with the bytes of the secret's text,
 * including its prefix, as the key. Its id is the header `webhook-id`. Old events have no time of their own.
 * @throws MalformedEventError if the body is not an event, or lacks an id that its type requires
 * @see https://polar.sh/docs/integrate/webhooks/events
 */
export const polarAdapter = defineAdapter({
  provider: 'polar',
  verify: (delivery, options) =>
    verifyStandardWebhook(delivery, options, (secret) => Buffer.from(secret, 'utf8')),
  fields: { eventId: 'header webhook-id', type: 'type', occurrence: 'timestamp', data: 'data' },
  read: ({ type, timestamp, data }, { headers }) => {
    const object = isObject(data) ? data : undefined;
    return {
      eventId: readName(headers['webhook-id']),
      type: readName(type),
      occurrence: readOccurrence(timestamp) ?? readOccurrence(object?.['modified_at']),
      data: object,
    };
  },
  interpret: (event) => READERS.get(event.type)?.(event),
});
