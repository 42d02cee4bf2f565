import { createHash } from 'node:crypto';

import { readId, readName, type JsonObject } from '../fields.ts';

/** What Gumroad reports: each kind is subscribed to by itself. */
const SALE_TYPES = new Set(['sale', 'refund', 'dispute', 'dispute_won']);
const SUBSCRIPTION_TYPES = new Set([
  'cancellation',
  'subscription_ended',
  'subscription_restarted',
  'subscription_updated',
]);

/** Whether a type is about a sale, and not about a membership only. */
export function isAboutSale(type: string): boolean {
  return SALE_TYPES.has(type);
}

/** Whether a type is one that Gumroad reports. */
export function isPing(type: string): boolean {
  return isAboutSale(type) || SUBSCRIPTION_TYPES.has(type);
}

/** The fields whose values distinguish the reports about one sale or subscription. A repetition has the same values. */
const STATE_FIELDS = [
  'refunded',
  'disputed',
  'dispute_won',
  'cancelled',
  'cancelled_at',
  'ended_at',
  'ended_reason',
  'restarted_at',
  'type',
  'effective_as_of',
];

const DIGEST_CHARACTERS = 16;

/** Shortens a value to a text that distinguishes it, for an event's id. */
export function digest(value: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify(value)).digest('hex');
  return hash.slice(0, DIGEST_CHARACTERS);
}

/**
 * Reduces a ping to the ids that the look-up needs, so that the buyer's data are stored only as the look-up confirms them. Gumroad's
 * simple ping has no resource name: it reports sales.
 * @param receivedAt the time of the ping, which contains none
 */
export function pickPing(fields: JsonObject, receivedAt: Date): JsonObject {
  const type = readName(fields['resource_name'] ?? 'sale');
  const saleId = readId(fields['sale_id']);
  const subscriptionId = readId(fields['subscription_id']);
  const objectId = type !== null && SUBSCRIPTION_TYPES.has(type) ? subscriptionId : saleId;
  const state = STATE_FIELDS.map((field) => JSON.stringify(fields[field] ?? null).slice(0, 100));
  return {
    event_id: objectId === null ? null : `${type}:${objectId}:${digest(state)}`,
    resource_name: type,
    received_at: receivedAt.toISOString(),
    sale_id: saleId,
    subscription_id: subscriptionId,
    is_test: fields['test'] === true || fields['test'] === 'true',
  };
}
