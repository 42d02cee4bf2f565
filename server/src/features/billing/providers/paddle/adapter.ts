import {
  defineAdapter,
  type DataReader,
  type Verification,
  type VerifyOptions,
  type WebhookDelivery,
} from '../adapter.ts';
import { readName, readOccurrence } from '../fields.ts';
import { readHeader, verifyTimedSignature } from '../signatures.ts';
import { readAdjustment, readCustomer, readSubscription, readTransaction } from './facts.ts';

/** Only a completed transaction is read: before that the subscription and the totals may change. */
const READERS: ReadonlyMap<string, DataReader> = new Map([
  ['transaction.completed', readTransaction],
  ['subscription.created', readSubscription],
  ['subscription.imported', readSubscription],
  ['subscription.trialing', readSubscription],
  ['subscription.activated', readSubscription],
  ['subscription.updated', readSubscription],
  ['subscription.past_due', readSubscription],
  ['subscription.paused', readSubscription],
  ['subscription.resumed', readSubscription],
  ['subscription.canceled', readSubscription],
  ['adjustment.created', readAdjustment],
  ['adjustment.updated', readAdjustment],
  ['customer.created', readCustomer],
  ['customer.imported', readCustomer],
  ['customer.updated', readCustomer],
]);

/** The header's name in this interface, and at Paddle. */
const SIGNATURE_HEADERS = ['billing-signature', 'paddle-signature'];

/**
 * Verifies a signature of Paddle Billing: the header is `ts=<unix seconds>;h1=<hex>[;h1=<hex>…]`, and `h1` is the
 * HMAC-SHA256 of `ts`, a colon and the raw body under the endpoint's secret, including its prefix. There are several
 * `h1` while a secret is rotated.
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
