import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';

import type { BillingEvent } from '../../facts.ts';
import { MalformedEventError, type EventHead } from '../adapter.ts';
import { readName, readObject } from '../json-fields.ts';
import { readAdjustment } from './adjustments.ts';
import { toCustomerFact } from './customers.ts';
import { ignored, type Reading } from './reading.ts';
import { Adjustment, Customer, Envelope, Subscription, Transaction } from './schemas.ts';
import { readSubscription } from './subscriptions.ts';
import { readTime } from '../times.ts';
import { readTransaction } from './transactions.ts';

type Reader = (envelope: Envelope, occurredAt: Date) => Reading;

const isEnvelope = Compile(Envelope);

const readSubscriptionEvent = defineReader(Subscription, readSubscription);
const readAdjustmentEvent = defineReader(Adjustment, readAdjustment);
const readCustomerEvent = defineReader(Customer, (customer, occurredAt) => ({
  fact: toCustomerFact(customer, occurredAt),
}));

/** Of a payment only its end counts, for the subscription and the totals are sure only then. */
const READERS: ReadonlyMap<string, Reader> = new Map([
  ['transaction.completed', defineReader(Transaction, readTransaction)],
  ['subscription.created', readSubscriptionEvent],
  ['subscription.imported', readSubscriptionEvent],
  ['subscription.trialing', readSubscriptionEvent],
  ['subscription.activated', readSubscriptionEvent],
  ['subscription.updated', readSubscriptionEvent],
  ['subscription.past_due', readSubscriptionEvent],
  ['subscription.paused', readSubscriptionEvent],
  ['subscription.resumed', readSubscriptionEvent],
  ['subscription.canceled', readSubscriptionEvent],
  ['adjustment.created', readAdjustmentEvent],
  ['adjustment.updated', readAdjustmentEvent],
  ['customer.created', readCustomerEvent],
  ['customer.imported', readCustomerEvent],
  ['customer.updated', readCustomerEvent],
]);

/**
 * Says what an event of Paddle Billing means.
 * @param body the verified body, read as JSON
 * @throws MalformedEventError for a body that has no id, no type, no time, or not the shape that its type promises
 */
export function normalizePaddle(body: unknown): BillingEvent {
  if (!isEnvelope.Check(body)) {
    throw new MalformedEventError('The event has no id, no type or no time.', readHead(body));
  }
  const occurredAt = readTime(body.occurred_at);
  if (occurredAt === null) {
    throw new MalformedEventError('The time of the event cannot be read.', readHead(body));
  }
  const reading = READERS.get(body.event_type)?.(body, occurredAt) ?? ignoreType(body.event_type);
  return {
    provider: 'paddle',
    eventId: body.event_id,
    type: body.event_type,
    occurredAt,
    facts: reading.fact === null ? [] : [reading.fact],
    ignoredBecause: reading.fact === null ? reading.ignoredBecause : null,
  };
}

function defineReader<Schema extends TSchema>(
  schema: Schema,
  read: (data: Static<Schema>, occurredAt: Date) => Reading,
): Reader {
  const validator = Compile(schema);
  return (envelope, occurredAt) => {
    const { data } = envelope;
    if (validator.Check(data)) return read(data, occurredAt);
    const [, [first]] = validator.Errors(data);
    const field = (first?.instancePath ?? '').replaceAll('/', '.').slice(0, 200);
    const message = `The data of ${envelope.event_type} are wrong at data${field}.`;
    throw new MalformedEventError(message, readHead(envelope));
  };
}

function ignoreType(type: string): Reading {
  if (type.startsWith('transaction.')) {
    return ignored('A transaction counts only once it is completed.');
  }
  return ignored(`No license depends on ${type}.`);
}

function readHead(body: unknown): EventHead {
  const fields = readObject(body);
  return {
    eventId: readName(fields['event_id']),
    type: readName(fields['event_type']),
    occurredAt: readTime(fields['occurred_at']),
  };
}
