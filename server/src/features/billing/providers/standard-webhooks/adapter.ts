import { defineDataReader, defineAdapter, type DataReader } from '../adapter.ts';
import { readName, readOccurrence } from '../fields.ts';
import {
  readCustomerChange,
  readDispute,
  readPayment,
  readRefund,
  readSubscription,
} from './facts.ts';
import { CustomerChange, Dispute, Payment, Refund, Subscription } from './schemas.ts';
import { verifyStandardWebhook } from './verify.ts';

const readPaymentEvent = defineDataReader(Payment, readPayment);
const readSubscriptionEvent = defineDataReader(Subscription, readSubscription);
const readDisputeEvent = defineDataReader(Dispute, readDispute);
const readCustomerEvent = defineDataReader(CustomerChange, readCustomerChange);

const READERS: ReadonlyMap<string, DataReader> = new Map([
  ['purchase.completed', readPaymentEvent],
  ['purchase.renewed', readPaymentEvent],
  ['purchase.changed', readPaymentEvent],
  ['subscription.created', readSubscriptionEvent],
  ['subscription.updated', readSubscriptionEvent],
  ['subscription.canceled', readSubscriptionEvent],
  ['payment.refunded', defineDataReader(Refund, readRefund)],
  ['payment.disputed', readDisputeEvent],
  ['payment.dispute_won', readDisputeEvent],
  ['customer.created', readCustomerEvent],
  ['customer.updated', readCustomerEvent],
]);

/**
 * For any shop that signs by the Standard Webhooks specification. Translates an event in this project's own format, documented in docs/operations/payments.md. Its id is the header
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
