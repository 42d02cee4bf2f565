import type {
  PaymentEventItem,
  paymentEvents,
  PaymentEventState,
  Reported,
} from '@latchkey/contract';

import { condition, queryPage } from '#server/db/list.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';

import { selectFrom, type ListSource } from '../lists/list-source.ts';
import type { BillingDependencies } from './dependencies.ts';
import { listEventFacts } from './queries/event-facts.ts';
import type { ListedEvent } from './queries/event-list.ts';
import { IS_DISMISSED, IS_UNMATCHED, type EventFilter } from './queries/events.ts';
import { isOfLicense, matchesSearch, paymentEventList } from './queries/operator-events.ts';
import { eventState } from './rules/event-state.ts';
import {
  reportFact,
  reportNothing,
  type FactInPurchase,
  type ProductNames,
} from './rules/report-fact.ts';

const STATE_CONDITIONS = {
  failed: `status = 'failed'`,
  deferred: `status = 'deferred'`,
  applied: `status = 'processed' and not coalesce(${IS_UNMATCHED}, false)`,
  unmatched: IS_UNMATCHED,
  dismissed: IS_DISMISSED,
  ignored: `status = 'ignored' and not coalesce(${IS_UNMATCHED} or ${IS_DISMISSED}, false)`,
} as const;

type ListDependencies = Pick<BillingDependencies, 'pool' | 'catalog'>;

/** A stored event, its outcome, and what it reports. */
export type ReportedEvent = ListedEvent & { readonly reported: Reported };

const FILTERS = {
  search: matchesSearch,
  state: (state: PaymentEventState) => condition(STATE_CONDITIONS[state]),
  provider: (name: string) => condition('provider = ?', name),
  type: (type: string) => condition('type = ?', type),
  since: (time: string) => condition('received_at >= ?', readTimeFilter('query', 'since', time)),
  until: (time: string) => condition('received_at < ?', readTimeFilter('query', 'until', time)),
  license_id: isOfLicense,
};

/** Where the list of payment events comes from. */
export function paymentEventSource(
  deps: ListDependencies,
): ListSource<typeof paymentEvents, ReportedEvent> {
  const select = selectFrom<typeof paymentEvents, typeof ListedEvent>(
    deps,
    paymentEventList,
    FILTERS,
  );
  return {
    read: (selection, now) => {
      const readPage = select(selection, now);
      return async (request) => {
        const { rows, next } = await readPage(request);
        return { rows: await addReported(deps, rows), next };
      };
    },
    view: toPaymentEventItem,
  };
}

async function addReported(
  { pool, catalog }: ListDependencies,
  events: readonly ListedEvent[],
): Promise<ReportedEvent[]> {
  const facts = await listEventFacts(pool, events);
  const found = new Map(facts.map((each) => [nameEvent(each), each]));
  const names = catalog();
  return events.map((event) => ({
    ...event,
    reported: reportEvent(event, found.get(nameEvent(event)), names),
  }));
}

/** Returns what an event reports. @param known undefined: it has no fact */
export function reportEvent(
  event: ListedEvent,
  known: FactInPurchase | undefined,
  catalog: ProductNames,
): Reported {
  if (known !== undefined) return reportFact(event.provider, known, catalog);
  // The details of customers are stored without their events.
  const isOfCustomer = event.status === 'processed' && event.type.startsWith('customer.');
  return reportNothing(isOfCustomer ? 'customer' : null);
}

function nameEvent({
  provider,
  eventId,
}: Pick<ListedEvent, 'eventId'> & { readonly provider: string }): string {
  return `${provider}/${eventId}`;
}

/** Lists the newest events with a stored status, at most `limit`, oldest first. A filter is null for any. */
export async function listNewestPaymentEvents(
  deps: ListDependencies,
  {
    status,
    provider,
    since,
    attention = false,
  }: Pick<EventFilter, 'status' | 'provider' | 'since'> & { readonly attention?: boolean },
  limit: number,
): Promise<ReportedEvent[]> {
  const conditions = [
    ...(status === null ? [] : [condition('status = ?', status)]),
    ...(provider === null ? [] : [condition('provider = ?', provider)]),
    ...(since === null ? [] : [condition('received_at >= ?', since)]),
    ...(attention ? [condition(IS_UNMATCHED)] : []),
  ];
  const request = { sort: 'received_at', descending: true, after: null, limit };
  const { rows } = await queryPage(deps.pool, paymentEventList, request, conditions);
  return addReported(deps, rows.toReversed());
}

/** Converts an event to an item of the interface. */
export function toPaymentEventItem(event: ReportedEvent): PaymentEventItem {
  return {
    provider: event.provider,
    event_id: event.eventId,
    type: event.type,
    state: eventState(event),
    ...event.reported,
    message: event.message,
    attempts: event.attempts,
    occurred_at: event.occurredAt.toISOString(),
    received_at: event.receivedAt.toISOString(),
    next_attempt_at: event.nextAttemptAt?.toISOString() ?? null,
  };
}
