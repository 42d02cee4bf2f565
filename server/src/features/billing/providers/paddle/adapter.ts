import {
  defineDataReader,
  defineAdapter,
  type DataReader,
  type Verification,
  type VerifyOptions,
  type WebhookDelivery,
} from '../adapter.ts';
import { readName, readOccurrence } from '../fields.ts';
import { readHeader, verifyTimedSignature } from '../signatures.ts';
import { readAdjustment, readSubscription, readTransaction } from './facts.ts';
import { readCustomerDetails } from './fields.ts';
import { Adjustment, Customer, Subscription, Transaction } from './schemas.ts';

const readSubscriptionEvent = defineDataReader(Subscription, readSubscription);
const readAdjustmentEvent = defineDataReader(Adjustment, readAdjustment);
const readCustomerEvent = defineDataReader(Customer, (customer, { occurrence }) => [
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

/** The header's name in this interface, and at Paddle. */
const SIGNATURE_HEADERS = ['billing-signature', 'paddle-signature'];

/**
 * Verifies a signature of Paddle Billing: the header is `ts=<unix seconds>;h1=<hex>[;h1=<hex>…]`, and `h1` is the
 * HMAC-SHA256 of `ts`, a colon and the raw body under the endpoint's secret, including its prefix. There are several `h1`
 * while a secret is rotated.
 * @see https://developer.paddle.com/webhooks/signature-verification
 */
function verify({ headers, rawBody }: WebhookDelivery, options: VerifyOptions): Verification {
  const [header] = SIGNATURE_HEADERS.flatMap((name) => readHeader(headers, name) ?? []);
  const format = { timeKey: 'ts', signatureKey: 'h1', joiner: ':' };
  return verifyTimedSignature(header?.split(';') ?? null, rawBody, format, options);
}

/**
 * Translates an event of Paddle Billing.
 * @throws MalformedEventError if the body has no id, no type, no time, or does not match its type
 */
export const paddleAdapter = defineAdapter<unknown>({
  provider: 'paddle',
  verify,
  fields: { eventId: 'event_id', type: 'event_type', occurrence: 'occurred_at', data: 'data' },
  read: (body) => ({
    eventId: readName(body['event_id']),
    type: readName(body['event_type']),
    occurrence: readOccurrence(body['occurred_at']),
    data: body['data'] ?? {},
  }),
  interpret: (event) => {
    const reader = READERS.get(event.type);
    if (reader !== undefined) return reader(event);
    const isTransaction = event.type.startsWith('transaction.');
    return isTransaction ? 'A transaction counts only once it is completed.' : undefined;
  },
});
