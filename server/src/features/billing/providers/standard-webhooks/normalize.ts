import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';

import type { BillingEvent } from '../../facts.ts';
import { MalformedEventError, type WebhookDelivery } from '../adapter.ts';
import { readId, readName, readObject } from '../json-fields.ts';
import { readTime } from '../times.ts';
import { toBillingEvent, type Reading } from '../reading.ts';
import {
  readCustomerChange,
  readDispute,
  readPayment,
  readRefund,
  readSubscription,
} from './facts.ts';
import { CustomerChange, Dispute, Envelope, Payment, Refund, Subscription } from './schemas.ts';

/** What of an event its reader needs. */
interface Occurrence {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: Date;
}

type Reader = (data: unknown, occurrence: Occurrence) => Reading;

const envelope = Compile(Envelope);

const readSnapshot = defineReader(Subscription, readSubscription);
const readCustomer = defineReader(CustomerChange, readCustomerChange);

const READERS: ReadonlyMap<string, Reader> = new Map([
  ['purchase.completed', defineReader(Payment, (data, at) => readPayment(data, 'purchase', at))],
  ['purchase.renewed', defineReader(Payment, (data, at) => readPayment(data, 'renewal', at))],
  ['purchase.changed', defineReader(Payment, (data, at) => readPayment(data, 'change', at))],
  ['subscription.created', readSnapshot],
  ['subscription.updated', readSnapshot],
  ['subscription.canceled', readSnapshot],
  ['payment.refunded', defineReader(Refund, readRefund)],
  ['payment.disputed', defineReader(Dispute, (data, at) => readDispute(data, false, at))],
  ['payment.dispute_won', defineReader(Dispute, (data, at) => readDispute(data, true, at))],
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
  const occurredAt = readTime(timestamp);
  if (occurredAt === null) {
    throw new MalformedEventError('The timestamp is no time.', { eventId: id, type });
  }
  return toBillingEvent(
    { provider: 'standard', eventId: id, type, occurredAt },
    READERS.get(type)?.(data, { id, type, occurredAt }),
  );
}

function defineReader<Schema extends TSchema>(
  schema: Schema,
  read: (data: Static<Schema>, occurredAt: Date) => Reading,
): Reader {
  const validator = Compile(schema);
  return (data, { id, type, occurredAt }) => {
    if (validator.Check(data)) return read(data, occurredAt);
    const [, [first]] = validator.Errors(data);
    const field = (first?.instancePath ?? '').replaceAll('/', '.').slice(0, 200);
    const message = `The data of ${type} are wrong at data${field}.`;
    throw new MalformedEventError(message, { eventId: id, type, occurredAt });
  };
}
