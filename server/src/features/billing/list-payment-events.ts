import type { PaymentEventItem, PaymentEventsExportQuery } from '@latchkey/contract';

import type { Clock } from '#server/clock.ts';
import {
  condition,
  queryAllPages,
  queryPage,
  type Condition,
  type ListOrder,
  type Page,
  type PageReader,
  type PageRequest,
} from '#server/db/list.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';

import { recordAccess } from '../audit/record-access.ts';
import type { BillingDependencies } from './dependencies.ts';
import type { ListedEvent } from './queries/event-list.ts';
import { IS_DISMISSED, IS_UNMATCHED, type EventFilter } from './queries/events.ts';
import { isOfLicense, matchesSearch, paymentEventList } from './queries/operator-events.ts';
import { eventState } from './rules/event-state.ts';

/** The filters of the list of payment events. */
export type PaymentEventFilters = Omit<PaymentEventsExportQuery, 'sort'>;

const STATE_CONDITIONS = {
  failed: `status = 'failed'`,
  deferred: `status = 'deferred'`,
  applied: `status = 'processed' and not coalesce(${IS_UNMATCHED}, false)`,
  unmatched: IS_UNMATCHED,
  dismissed: IS_DISMISSED,
  ignored: `status = 'ignored' and not coalesce(${IS_UNMATCHED} or ${IS_DISMISSED}, false)`,
} as const;

/** Lists payment events for operators. @throws InvalidPositionError */
export function listPaymentEvents(
  { pool }: Pick<BillingDependencies, 'pool'>,
  request: PageRequest,
  filters: PaymentEventFilters,
): Promise<Page<ListedEvent>> {
  const conditions = toConditions(filters);
  return queryPage(pool, paymentEventList, request, conditions);
}

/** Lists the newest events with a stored status, at most `limit`, oldest first. A filter is null for any. */
export async function listNewestPaymentEvents(
  { pool }: Pick<BillingDependencies, 'pool'>,
  {
    status,
    provider,
    since,
    attention = false,
  }: Pick<EventFilter, 'status' | 'provider' | 'since'> & { readonly attention?: boolean },
  limit: number,
): Promise<ListedEvent[]> {
  const conditions = [
    ...(status === null ? [] : [condition('status = ?', status)]),
    ...(provider === null ? [] : [condition('provider = ?', provider)]),
    ...(since === null ? [] : [condition('received_at >= ?', since)]),
    ...(attention ? [condition(IS_UNMATCHED)] : []),
  ];
  const request = { sort: 'received_at', descending: true, after: null, limit };
  const { rows } = await queryPage(pool, paymentEventList, request, conditions);
  return rows.toReversed();
}

/** Reads all events of a filter, after an audit entry. They contain no address. */
export async function exportPaymentEvents(
  deps: PageReader & { readonly clock: Clock },
  order: ListOrder,
  filters: PaymentEventFilters,
  actor: string,
): Promise<AsyncIterable<ListedEvent>> {
  const { state = null, provider = null, type = null } = filters;
  await recordAccess(deps, {
    actor,
    action: 'webhook.export',
    subjectId: 'webhooks',
    reason: null,
    details: { state, provider, type },
  });
  return queryAllPages(deps, paymentEventList, order, toConditions(filters));
}

function toConditions(filters: PaymentEventFilters): Condition[] {
  const { search = '', state, provider, type, license_id: licenseId } = filters;
  const since = readTimeFilter('query', 'since', filters.since);
  const until = readTimeFilter('query', 'until', filters.until);
  return [
    ...(state === undefined ? [] : [condition(STATE_CONDITIONS[state])]),
    ...(provider === undefined ? [] : [condition('provider = ?', provider)]),
    ...(type === undefined ? [] : [condition('type = ?', type)]),
    ...(since === undefined ? [] : [condition('received_at >= ?', since)]),
    ...(until === undefined ? [] : [condition('received_at < ?', until)]),
    ...(licenseId === undefined ? [] : [isOfLicense(licenseId)]),
    ...(search.trim() === '' ? [] : [matchesSearch(search)]),
  ];
}

/** Converts an event to an item of the interface. */
export function toPaymentEventItem(event: ListedEvent): PaymentEventItem {
  return {
    provider: event.provider,
    event_id: event.eventId,
    type: event.type,
    state: eventState(event),
    message: event.message,
    attempts: event.attempts,
    occurred_at: event.occurredAt.toISOString(),
    received_at: event.receivedAt.toISOString(),
    next_attempt_at: event.nextAttemptAt?.toISOString() ?? null,
  };
}
