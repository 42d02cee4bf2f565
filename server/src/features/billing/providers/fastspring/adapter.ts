import {
  defineAdapter,
  type Interpretation,
  type ProviderEvent,
  type Verification,
  type VerifyOptions,
  type WebhookDelivery,
} from '../adapter.ts';
import { isObject, readName, readObject } from '../fields.ts';
import { matchesHmac, readHeader, readSignature } from '../signatures.ts';
import { readOccurrence } from './fields.ts';
import { readCharge, readOrder } from './order.ts';
import { readReturn } from './returns.ts';
import { readAccount, readSubscription } from './subscription.ts';

const READERS: ReadonlyMap<string, (event: ProviderEvent) => Interpretation> = new Map([
  ['order.completed', readOrder],
  ['subscription.activated', readSubscription],
  ['subscription.updated', readSubscription],
  ['subscription.charge.completed', readCharge],
  ['subscription.charge.failed', readSubscription],
  ['subscription.payment.overdue', readSubscription],
  ['subscription.canceled', readSubscription],
  ['subscription.uncanceled', readSubscription],
  ['subscription.paused', readSubscription],
  ['subscription.resumed', readSubscription],
  ['subscription.deactivated', readSubscription],
  ['return.created', readReturn],
  ['account.created', readAccount],
  ['account.updated', readAccount],
]);

/** Why an event of these types has no effect. */
const IGNORED: ReadonlyMap<string, string> = new Map([
  ['order.canceled', 'An order counts only once it is completed.'],
  ['order.failed', 'An order counts only once it is completed.'],
  ['order.payment.pending', 'An order counts only once it is completed.'],
  ['order.approval.pending', 'An order counts only once it is completed.'],
  ['subscription.trial.reminder', 'It reports no change of the subscription.'],
  ['subscription.payment.reminder', 'It reports no change of the subscription.'],
]);

/**
 * Verifies a signature of FastSpring: `X-FS-Signature` is the HMAC-SHA256 of the raw body under the webhook's secret, in base64.
 * The time is not signed, so nothing is stale; a repeated event is recognized by its id, and its order by that of the order.
 * @see https://developer.fastspring.com/reference/message-security
 */
function verify({ headers, rawBody }: WebhookDelivery, { secrets }: VerifyOptions): Verification {
  const header = readHeader(headers, 'x-fs-signature');
  if (header === null) return 'missing';
  const signature = readSignature(header, 'base64');
  if (signature === null) return 'malformed';
  return matchesHmac([rawBody], secrets, [signature]) ? 'valid' : 'mismatch';
}

function listEvents(body: object): readonly unknown[] | null {
  const events = readObject(body)['events'];
  return Array.isArray(events) ? events : null;
}

/**
 * Translates an event of FastSpring. Accounts, products and subscriptions may be objects or their ids, as the webhook is set.
 * @throws MalformedEventError if it is not an event, or lacks an id that its type requires
 * @see https://developer.fastspring.com/reference/webhooks-overview
 */
export const fastSpringAdapter = defineAdapter({
  provider: 'fastspring',
  verify,
  split: listEvents,
  fields: { eventId: 'id', type: 'type', occurrence: 'created', data: 'data' },
  read: (body) => ({
    eventId: readName(body['id']),
    type: readName(body['type']),
    occurrence: readOccurrence(body['created']),
    data: isObject(body['data']) ? body['data'] : undefined,
    isTest: body['live'] === false,
  }),
  interpret: (event) => READERS.get(event.type)?.(event) ?? IGNORED.get(event.type),
});
