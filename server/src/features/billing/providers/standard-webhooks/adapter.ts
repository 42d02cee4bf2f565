import { defineAdapter, type DataReader } from '../adapter.ts';
import { readName, readOccurrence } from '../fields.ts';
import {
  readCustomerChange,
  readDispute,
  readPayment,
  readRefund,
  readSubscription,
} from './facts.ts';
import { verifyStandardWebhook } from './verify.ts';

const READERS: ReadonlyMap<string, DataReader> = new Map([
  ['purchase.completed', readPayment],
  ['purchase.renewed', readPayment],
  ['purchase.changed', readPayment],
  ['subscription.created', readSubscription],
  ['subscription.updated', readSubscription],
  ['subscription.canceled', readSubscription],
  ['payment.refunded', readRefund],
  ['payment.disputed', readDispute],
  ['payment.dispute_won', readDispute],
  ['customer.created', readCustomerChange],
  ['customer.updated', readCustomerChange],
]);

/**
 * For any shop that signs by the Standard Webhooks specification. Translates an event in this project's own format, documented in docs/integrations/payments/own-shop.md. Its id is the header
 * `webhook-id`.
 * @throws MalformedEventError if the body does not have that format; the message names the field
 */
export const standardWebhooksAdapter = defineAdapter<unknown>({
  provider: 'standard',
  verify: verifyStandardWebhook,
  fields: { eventId: 'header webhook-id', type: 'type', occurrence: 'timestamp', data: 'data' },
  read: ({ type, timestamp, data }, { headers }) => ({
    eventId: readName(headers['webhook-id']),
    type: readName(type),
    occurrence: readOccurrence(timestamp),
    data,
  }),
  interpret: (event) => READERS.get(event.type)?.(event),
});
