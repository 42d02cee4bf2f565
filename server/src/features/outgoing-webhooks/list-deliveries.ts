import type {
  WebhookDelivery,
  WebhookDeliveriesExportQuery,
  WebhookDeliveryItem,
} from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import {
  condition,
  queryAllPages,
  queryPage,
  type Condition,
  type ListOrder,
  type Page,
  type PageRequest,
} from '#server/db/list.ts';
import { noSuch } from '#server/errors.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';

import { recordAccess } from '../audit/record-access.ts';
import {
  deliveryList,
  findDelivery,
  listAttempts,
  matchesSearch,
  type ListedDelivery,
} from './queries/operator-deliveries.ts';

export interface DeliveryListDependencies {
  readonly pool: Pool;
  readonly databaseLimiter: ConcurrencyLimiter;
}

type DeliveryFilters = Omit<WebhookDeliveriesExportQuery, 'sort'>;

const STATE_CONDITIONS = {
  pending: `delivery.state = 'pending' and delivery.last_error is null`,
  retrying: `delivery.state = 'pending' and delivery.last_error is not null`,
  delivered: `delivery.state = 'delivered'`,
  failed: `delivery.state = 'failed'`,
} as const;

/** Lists deliveries for operators. @throws InvalidPositionError */
export function listDeliveriesPage(
  { pool }: DeliveryListDependencies,
  request: PageRequest,
  filters: DeliveryFilters,
): Promise<Page<ListedDelivery>> {
  const conditions = toConditions(filters);
  return queryPage(pool, deliveryList, request, conditions);
}

/** Reads all deliveries of a filter, after an audit entry. They contain no address. */
export async function exportDeliveries(
  deps: DeliveryListDependencies & { readonly clock: Clock },
  order: ListOrder,
  filters: DeliveryFilters,
  actor: string,
): Promise<AsyncIterable<ListedDelivery>> {
  const { state = null, endpoint_id: endpointId = null, type = null } = filters;
  await recordAccess(deps, {
    actor,
    action: 'endpoint.export',
    subjectId: 'deliveries',
    reason: null,
    details: { state, endpoint_id: endpointId, type },
  });
  return queryAllPages(deps, deliveryList, order, toConditions(filters));
}

function toConditions(filters: DeliveryFilters): Condition[] {
  const { search = '', state, endpoint_id: endpointId, type } = filters;
  const since = readTimeFilter('query', 'since', filters.since);
  const until = readTimeFilter('query', 'until', filters.until);
  return [
    ...(state === undefined ? [] : [condition(STATE_CONDITIONS[state])]),
    ...(endpointId === undefined ? [] : [condition('delivery.endpoint_id = ?::uuid', endpointId)]),
    ...(type === undefined ? [] : [condition('delivery.type = ?', type)]),
    ...(since === undefined ? [] : [condition('delivery.created_at >= ?', since)]),
    ...(until === undefined ? [] : [condition('delivery.created_at < ?', until)]),
    ...(search.trim() === '' ? [] : [matchesSearch(search)]),
  ];
}

/** Converts a delivery to an item of the interface. */
export function viewDelivery(delivery: ListedDelivery): WebhookDeliveryItem {
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
