import { Compile } from 'typebox/schema';

import type { BillingEvent } from '../../facts.ts';
import {
  defineDataReader,
  MalformedEventError,
  type BillingAdapter,
  type DataReader,
  toBillingEvent,
  type PartialHeader,
  type Verification,
  type VerifyOptions,
  type WebhookDelivery,
} from '../adapter.ts';
import { readName, readObject, readOccurrence, readTime } from '../fields.ts';
import { readHeader, verifyTimedSignature } from '../signatures.ts';
import { readAdjustment, readSubscription, readTransaction } from './facts.ts';
import { readCustomerDetails } from './fields.ts';
import { Adjustment, Customer, Envelope, Subscription, Transaction } from './schemas.ts';

export const paddleAdapter: BillingAdapter = {
  provider: 'paddle',
  verify: verifyPaddle,
  normalize: normalizePaddle,
};

const isEnvelope = Compile(Envelope);

const readSubscriptionEvent = defineDataReader(Subscription, readSubscription);
const readAdjustmentEvent = defineDataReader(Adjustment, readAdjustment);
const readCustomerEvent = defineDataReader(Customer, (customer, occurrence) => [
  {
    kind: 'customer',
    customerId: customer.id,
    ...occurrence,
    customer: readCustomerDetails(customer),
  },
]);

/** Of transactions only the completed one counts: before that the subscription and the totals may change. */
const READERS: ReadonlyMap<string, DataReader> = new Map([
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
 * Translates an event of Paddle Billing.
 * @throws MalformedEventError if the body has no id, no type, no time, or does not match its type
 */
export function normalizePaddle(body: unknown): BillingEvent {
  if (!isEnvelope.Check(body)) {
    throw new MalformedEventError(
      'The event has no id, no type or no time.',
      readPartialHeader(body),
    );
  }
  const occurrence = readOccurrence(body.occurred_at);
  if (occurrence === null) {
    throw new MalformedEventError('The time of the event cannot be read.', readPartialHeader(body));
  }
  const { event_id: eventId, event_type: type, data } = body;
  const header = { provider: 'paddle', eventId, type, occurredAt: occurrence.occurredAt } as const;
  const interpretation = READERS.get(type)?.(data, header, occurrence);
  const isIncomplete = interpretation === undefined && type.startsWith('transaction.');
  return toBillingEvent(
    header,
    isIncomplete ? 'A transaction counts only once it is completed.' : interpretation,
  );
}

function readPartialHeader(body: unknown): PartialHeader {
  const fields = readObject(body);
  return {
    eventId: readName(fields['event_id']),
    type: readName(fields['event_type']),
    occurredAt: readTime(fields['occurred_at']),
  };
}

/** The header's name in this interface, and at Paddle. */
const SIGNATURE_HEADERS = ['billing-signature', 'paddle-signature'];

/**
 * Verifies a signature of Paddle Billing: the header is `ts=<unix seconds>;h1=<hex>[;h1=<hex>…]`, and `h1` is the
 * HMAC-SHA256 of `ts`, a colon and the raw body under the endpoint's secret, including its prefix. There are several `h1`
 * while a secret is rotated.
 * @see https://developer.paddle.com/webhooks/signature-verification
 */
export function verifyPaddle(
  { headers, rawBody }: WebhookDelivery,
  options: VerifyOptions,
): Verification {
  const [header] = SIGNATURE_HEADERS.flatMap((name) => readHeader(headers, name) ?? []);
  const format = { timeKey: 'ts', signatureKey: 'h1', joiner: ':' };
  return verifyTimedSignature(header?.split(';') ?? null, rawBody, format, options);
}
