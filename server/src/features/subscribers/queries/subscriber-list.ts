import {
  defineBoundedList,
  queryAllBoundedPages,
  queryBoundedPage,
  type Filter,
} from '#server/db/bounded-list.ts';
import {
  condition,
  type Condition,
  type ListOrder,
  type Page,
  type PageReader,
  type PageRequest,
} from '#server/db/list.ts';
import { toByteaArray } from '#server/db/hot-statement.ts';
import { columnsOf, type Queryable } from '#server/db/statement.ts';

import type { SubscriberFacts } from '../facts.ts';
import type { SubscriberState } from '../rules/subscription.ts';
import { SubscriberRow, toSubscriber } from './subscribers.ts';

const subscriberList = defineBoundedList({
  name: 'subscriber_list',
  row: SubscriberRow,
  columns: columnsOf(SubscriberRow),
  table: 'subscribers',
  alias: 's',
  joins: 'left join suppressions p using (address_hash)',
  key: 's.address_hash',
  // Each row costs a look-up of its suppression, and one of its licenses if the product matters.
  limits: { candidates: 2_000, nearCandidates: 2_000, walked: 4_000 },
  id: { sql: 's.id', type: 'uuid' },
  sorts: { first_subscribed_at: { sql: 's.first_subscribed_at', type: 'timestamptz' } },
});

/** A filter of subscribers; null: any. */
export interface SubscriberFilter {
  readonly state: SubscriberState | null;
  readonly language: string | null;
  readonly optIn: string | null;
  /** Has a license of this product. */
  readonly productId: string | null;
  /** Of the first subscription, inclusive. */
  readonly since: Date | null;
  /** Of the first subscription, exclusive. */
  readonly until: Date | null;
  readonly search: AddressSearch | null;
}

/** What is searched: a complete address, by its hashes, or the start of an address or of its domain, in lower case. */
export type AddressSearch =
  | { readonly kind: 'address'; readonly hashes: readonly string[] }
  | { readonly kind: 'start' | 'domain'; readonly text: string };

export async function listSubscribers(
  db: Queryable,
  filter: SubscriberFilter,
  request: PageRequest,
): Promise<Page<SubscriberFacts>> {
  const { rows, next } = await queryBoundedPage(db, subscriberList, request, toFilters(filter));
  return { rows: rows.map(toSubscriber), next };
}

export async function* listAllSubscribers(
  reader: PageReader,
  filter: SubscriberFilter,
  order: ListOrder,
): AsyncGenerator<SubscriberFacts> {
  for await (const row of queryAllBoundedPages(reader, subscriberList, order, toFilters(filter))) {
    yield toSubscriber(row);
  }
}

/** The conditions of the states, as `stateOf` derives them; a test compares both. */
const STATE_CONDITIONS: Readonly<Record<SubscriberState, string>> = {
  pending: 'p.reason is null and s.confirmed_at is null',
  confirmed: 'p.reason is null and s.confirmed_at is not null',
  unsubscribed: "p.reason = 'unsubscribed'",
  suppressed: "p.reason = 'by_hand'",
  bounced: "p.reason = 'bounced'",
  complained: "p.reason = 'complained'",
  erased: "p.reason = 'erased'",
};

const PENDING =
  'select address_hash from subscribers where confirmed_at is null order by subscribed_at';
const OF_REASON =
  'select address_hash from suppressions where reason = ? order by suppressed_at, address_hash';

/** Of the states that the fewest subscribers have; of the suppressed ones, the reason of the suppression. */
const STATE_CANDIDATES: Readonly<Partial<Record<SubscriberState, Condition>>> = {
  pending: condition(PENDING),
  unsubscribed: condition(OF_REASON, 'unsubscribed'),
  suppressed: condition(OF_REASON, 'by_hand'),
  bounced: condition(OF_REASON, 'bounced'),
  complained: condition(OF_REASON, 'complained'),
  erased: condition(OF_REASON, 'erased'),
};

const HAS_LICENSE = `exists (
  select from licenses l where lower(l.customer_email) = lower(s.email) and l.product_id = ? and not l.is_test)`;

function toFilters(filter: SubscriberFilter): Filter[] {
  const { state, language, optIn, productId, since, until, search } = filter;
  return [
    ...(state === null ? [] : [isInState(state)]),
    ...(language === null ? [] : [condition('s.language = ?', language)]),
    ...(optIn === null ? [] : [condition('s.opt_in = ?', optIn)]),
    ...(productId === null ? [] : [condition(HAS_LICENSE, productId)]),
    ...(since === null ? [] : [isInTime('>=', since)]),
    ...(until === null ? [] : [isInTime('<', until)]),
    ...(search === null ? [] : [toSearchFilter(search)]),
  ];
}

function isInState(state: SubscriberState): Filter {
  const candidates = STATE_CANDIDATES[state];
  return { ...condition(STATE_CONDITIONS[state]), ...(candidates && { candidates }) };
}

function isInTime(operator: '<' | '>=', time: Date): Filter {
  const inTime = condition(`s.first_subscribed_at ${operator} ?::timestamptz`, time);
  return { ...inTime, bounds: { first_subscribed_at: inTime } };
}

function toSearchFilter(search: AddressSearch): Filter {
  if (search.kind === 'address') {
    const hashes = toByteaArray(search.hashes);
    return {
      ...condition('s.address_hash = any (?::bytea[])', hashes),
      candidates: condition('select unnest(?::bytea[])', hashes),
      isExact: true,
    };
  }
  const start = `${search.text.replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`;
  const searched =
    search.kind === 'start' ? 'lower(s.email)' : "split_part(lower(s.email), '@', 2)";
  return {
    ...condition(`${searched} like ?`, start),
    candidates: condition(
      `select s.address_hash from subscribers s where ${searched} like ? order by ${searched} using ~<~`,
      start,
    ),
    isExact: true,
  };
}
