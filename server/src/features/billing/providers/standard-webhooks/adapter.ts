import { Compile } from 'typebox/schema';

import type { BillingEvent } from '../../facts.ts';
import {
  defineDataReader,
  MalformedEventError,
  toBillingEvent,
  type BillingAdapter,
  type DataReader,
  type WebhookDelivery,
} from '../adapter.ts';
import { readId, readName, readObject, readOccurrence, readTime } from '../fields.ts';
import {
  readCustomerChange,
  readDispute,
  readPayment,
  readRefund,
  readSubscription,
} from './facts.ts';
import { CustomerChange, Dispute, Envelope, Payment, Refund, Subscription } from './schemas.ts';
import { verifyStandardWebhook } from './verify.ts';

/** For any shop that signs by the Standard Webhooks specification and sends the events defined by this project. */
export const standardWebhooksAdapter: BillingAdapter = {
  provider: 'standard',
  verify: verifyStandardWebhook,
  normalize: normalizeStandardWebhook,
};

const envelope = Compile(Envelope);

const readSnapshot = defineDataReader(Subscription, readSubscription);
const readCustomer = defineDataReader(CustomerChange, readCustomerChange);

const READERS: ReadonlyMap<string, DataReader> = new Map([
  [
    'purchase.completed',
    defineDataReader(Payment, (data, at) => readPayment(data, 'purchase', at)),
  ],
  ['purchase.renewed', defineDataReader(Payment, (data, at) => readPayment(data, 'renewal', at))],
  ['purchase.changed', defineDataReader(Payment, (data, at) => readPayment(data, 'change', at))],
  ['subscription.created', readSnapshot],
  ['subscription.updated', readSnapshot],
  ['subscription.canceled', readSnapshot],
  ['payment.refunded', defineDataReader(Refund, readRefund)],
  ['payment.disputed', defineDataReader(Dispute, (data, at) => readDispute(data, false, at))],
  ['payment.dispute_won', defineDataReader(Dispute, (data, at) => readDispute(data, true, at))],
  ['customer.created', readCustomer],
  ['customer.updated', readCustomer],
]);

/**
 * Translates an event in this project's own format, documented in docs/operations/payments.md. Its id is the header
 * `webhook-id`.
 * @throws MalformedEventError if the body does not have that format; the message names the field
 */
export function normalizeStandardWebhook(
  body: unknown,
  { headers }: WebhookDelivery,
): BillingEvent {
  const eventId = readId(headers['webhook-id']);
  if (eventId === null) throw new MalformedEventError('The header webhook-id is not an id.');
  if (!envelope.Check(body)) {
    const fields = readObject(body);
    throw new MalformedEventError('An event needs the texts type and timestamp, and data.', {
      eventId,
      type: readName(fields['type']),
      occurredAt: readTime(fields['timestamp']),
    });
  }
  const { type, data, timestamp } = body;
  const occurrence = readOccurrence(timestamp);
  if (occurrence === null) {
    throw new MalformedEventError('The timestamp is not a time.', { eventId, type });
  }
  const header = {
    provider: 'standard',
    eventId,
    type,
    occurredAt: occurrence.occurredAt,
  } as const;
  return toBillingEvent(header, READERS.get(type)?.(data, header, occurrence));
}
