import { createHash, timingSafeEqual } from 'node:crypto';

import {
  defineAdapter,
  type ProviderEvent,
  type Interpretation,
  type Verification,
  type VerifyOptions,
  type WebhookDelivery,
} from '../adapter.ts';
import { readName, readObject, readOccurrence } from '../fields.ts';
import { GIFT_TAKEN_BACK, readSale } from './sale.ts';
import { GIFT_LOOKED_UP, SALE_LOOKED_UP, SUBSCRIBER_LOOKED_UP } from './look-up.ts';
import { isPing, pickPing } from './ping.ts';
import { readSubscriber } from './subscriber.ts';

/**
 * Verifies the secret in the address, because Gumroad signs nothing. Both sides are hashed, so that the comparison takes the
 * same time for every secret.
 */
function verify({ addressSecret }: WebhookDelivery, { secrets }: VerifyOptions): Verification {
  if (addressSecret === undefined || addressSecret === '') return 'missing';
  const given = hash(addressSecret);
  let matches = false;
  for (const secret of secrets) matches = timingSafeEqual(given, hash(secret)) || matches;
  return matches ? 'valid' : 'mismatch';
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A ping has no facts: only what Gumroad's API returns about it counts. */
function interpret(event: ProviderEvent): Interpretation | undefined {
  if (event.type === SALE_LOOKED_UP) return readSale(event);
  if (event.type === SUBSCRIBER_LOOKED_UP) return readSubscriber(event);
  if (event.type === GIFT_LOOKED_UP) return GIFT_TAKEN_BACK;
  return isPing(event.type) ? [] : undefined;
}

/**
 * Translates the pings of Gumroad, which anyone who knows the address can send, and the look-ups that they cause, which contain
 * the facts.
 * @throws MalformedEventError if the body is neither
 * @see https://gumroad.com/ping and https://gumroad.com/api
 */
export const gumroadAdapter = defineAdapter({
  provider: 'gumroad',
  verify,
  split: (body, receivedAt) => [pickPing(readObject(body), receivedAt)],
  requiresLookUp: isPing,
  fields: {
    eventId: 'sale_id or subscription_id',
    type: 'resource_name',
    occurrence: 'received_at',
    data: 'body',
  },
  read: (body) => ({
    eventId: readName(body['event_id']),
    type: readName(body['resource_name']),
    occurrence: readOccurrence(body['received_at']),
    data: body,
    isTest: body['is_test'] === true,
  }),
  interpret,
});
