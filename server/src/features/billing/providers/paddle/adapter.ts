import { Compile } from 'typebox/schema';

import type { BillingEvent } from '../../facts.ts';
import {
  defineDataReader,
  MalformedEventError,
  type BillingAdapter,
  type DataReader,
  type EventHead,
} from '../adapter.ts';
import { readName, readObject, readOccurrence, readTime } from '../fields.ts';
import { readAdjustment, readSubscription, readTransaction } from './facts.ts';
import { toCustomerFact } from './fields.ts';
import { ignored, type Reading } from './reading.ts';
import { Adjustment, Customer, Envelope, Subscription, Transaction } from './schemas.ts';
import { verifyPaddle } from './verify.ts';

/** Paddle Billing. */
export const paddleAdapter: BillingAdapter = {
  provider: 'paddle',
  verify: verifyPaddle,
  normalize: normalizePaddle,
};

const isEnvelope = Compile(Envelope);

const readSubscriptionEvent = defineDataReader(Subscription, readSubscription);
const readAdjustmentEvent = defineDataReader(Adjustment, readAdjustment);
const readCustomerEvent = defineDataReader(Customer, (customer, occurrence) => ({
  fact: toCustomerFact(customer, occurrence),
}));

/** Of a payment only its end counts, for the subscription and the totals are sure only then. */
const READERS: ReadonlyMap<string, DataReader<Reading>> = new Map([
  ['transaction.completed', defineDataReader(Transaction, readTransaction)],
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
  const occurrence = readOccurrence(body.occurred_at);
  if (occurrence === null) {
    throw new MalformedEventError('The time of the event cannot be read.', readHead(body));
  }
  const { event_id: eventId, event_type: type, data } = body;
  const reading = READERS.get(type)?.(data, { id: eventId, type, occurrence }) ?? ignoreType(type);
  return {
    provider: 'paddle',
    eventId,
    type,
    occurredAt: occurrence.occurredAt,
    facts: reading.fact === null ? [] : [reading.fact],
    ignoredBecause: reading.fact === null ? reading.ignoredBecause : null,
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
