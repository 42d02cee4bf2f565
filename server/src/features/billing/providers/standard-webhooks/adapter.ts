import { Compile } from 'typebox/schema';

import type { BillingEvent } from '../../facts.ts';
import {
  defineDataReader,
  MalformedEventError,
  toBillingEvent,
  type BillingAdapter,
  type DataReader,
  type Reading,
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

/** Any shop that signs by the Standard Webhooks specification and sends this project's own events. */
export const standardWebhooksAdapter: BillingAdapter = {
  provider: 'standard',
  verify: verifyStandardWebhook,
  normalize: normalizeStandardWebhook,
};

const envelope = Compile(Envelope);

const readSnapshot = defineDataReader(Subscription, readSubscription);
const readCustomer = defineDataReader(CustomerChange, readCustomerChange);

const READERS: ReadonlyMap<string, DataReader<Reading>> = new Map([
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
 * Says what an event of a shop means that is connected by hand: its form is this project's own, documented in
 * docs/operations/payments.md. The event's id is the header `webhook-id`.
 * @throws MalformedEventError for a body that is not of that form; the message names the field
 */
export function normalizeStandardWebhook(
  body: unknown,
  { headers }: WebhookDelivery,
): BillingEvent {
  const id = readId(headers['webhook-id']);
  if (id === null) throw new MalformedEventError('The header webhook-id is no id.');
  if (!envelope.Check(body)) {
    const fields = readObject(body);
    throw new MalformedEventError('An event needs the texts type and timestamp, and data.', {
      eventId: id,
      type: readName(fields['type']),
      occurredAt: readTime(fields['timestamp']),
    });
  }
  const { type, data, timestamp } = body;
  const occurrence = readOccurrence(timestamp);
  if (occurrence === null) {
    throw new MalformedEventError('The timestamp is no time.', { eventId: id, type });
  }
  return toBillingEvent(
    { provider: 'standard', eventId: id, type, occurredAt: occurrence.occurredAt },
    READERS.get(type)?.(data, { id, type, occurrence }),
  );
}
