import type { WebhookDelivery, webhookDeliveries, WebhookDeliveryItem } from '@latchkey/contract';
import type { Pool } from 'pg';

import { condition } from '#server/db/list.ts';
import { noSuch } from '#server/errors.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';

import { selectFrom, type ListSource } from '../lists/list-source.ts';
import {
  deliveryList,
  findDelivery,
  listAttempts,
  matchesSearch,
  type ListedDelivery,
} from './queries/operator-deliveries.ts';

const STATE_CONDITIONS = {
  pending: `delivery.state = 'pending' and delivery.last_error is null`,
  retrying: `delivery.state = 'pending' and delivery.last_error is not null`,
  delivered: `delivery.state = 'delivered'`,
  failed: `delivery.state = 'failed'`,
} as const;

const FILTERS = {
  state: (state: WebhookDeliveryItem['state']) => condition(STATE_CONDITIONS[state]),
  endpoint_id: (id: string) => condition('delivery.endpoint_id = ?::uuid', id),
  type: (type: string) => condition('delivery.type = ?', type),
  since: (time: string) =>
    condition('delivery.created_at >= ?', readTimeFilter('query', 'since', time)),
  until: (time: string) =>
    condition('delivery.created_at < ?', readTimeFilter('query', 'until', time)),
  search: matchesSearch,
};

/** Where the list of deliveries comes from. */
export function deliverySource(deps: {
  readonly pool: Pool;
}): ListSource<typeof webhookDeliveries, ListedDelivery> {
  return { read: selectFrom(deps, deliveryList, FILTERS), view: viewDelivery };
}

/** Converts a delivery to an item of the interface. */
function viewDelivery(delivery: ListedDelivery): WebhookDeliveryItem {
  return {
    message_id: delivery.messageId,
    endpoint_id: delivery.endpointId,
    endpoint_url: delivery.endpointUrl,
    type: delivery.type,
    license_id: delivery.licenseId,
    state: delivery.state,
    attempts: delivery.attempts,
    created_at: delivery.createdAt.toISOString(),
    last_attempt_at: delivery.lastAttemptAt?.toISOString() ?? null,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    last_status: delivery.lastStatus,
    last_duration_ms: delivery.lastDurationMs,
    last_error: delivery.lastError,
  };
}

const MAX_ATTEMPTS = 100;

/**
 * Shows a delivery with its body and its attempts.
 * @param showsAnswers whether attempts have the beginning of the receiver's answer, which may be of an internal page
 * @throws noSuch (404)
 */
export async function showDelivery(
  { pool }: { readonly pool: Pool },
  messageId: string,
  endpointId: string,
  showsAnswers: boolean,
): Promise<WebhookDelivery> {
  const delivery = await findDelivery(pool, messageId, endpointId);
  if (delivery === null) throw noSuch('There is no such delivery, or it is older than 30 days.');
  const attempts = await listAttempts(pool, messageId, endpointId, MAX_ATTEMPTS);
  return {
    ...viewDelivery(delivery),
    payload: delivery.payload,
    history: attempts.map(({ attemptedAt, status, durationMs, error, answer }) => ({
      attempted_at: attemptedAt.toISOString(),
      status,
      duration_ms: durationMs,
      error,
      answer: showsAnswers ? answer : null,
    })),
  };
}
