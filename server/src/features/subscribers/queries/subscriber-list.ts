import { defineBoundedList, type Filter } from '#server/db/bounded-list.ts';
import { toByteaArray } from '#server/db/hot-statement.ts';
import { condition, type Condition } from '#server/db/list.ts';
import { columnsOf } from '#server/db/statement.ts';

import type { SubscriberState } from '../rules/subscription.ts';
import { SubscriberRow } from './subscribers.ts';

/** Newsletter subscribers. */
export const subscriberList = defineBoundedList({
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

/** What is searched: a complete address, by its hashes, or the start of an address or of its domain, in lower case. */
export type AddressSearch =
  | { readonly kind: 'address'; readonly hashes: readonly string[] }
  | { readonly kind: 'start' | 'domain'; readonly text: string };

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

/** The condition of a state. */
export function isInState(state: SubscriberState): Filter {
  const candidates = STATE_CANDIDATES[state];
  return { ...condition(STATE_CONDITIONS[state]), ...(candidates && { candidates }) };
}

export function isInLanguage(language: string): Filter {
  return condition('s.language = ?', language);
}

export function hasOptIn(optIn: string): Filter {
  return condition('s.opt_in = ?', optIn);
}

/** The condition of having a license of a product. */
export function hasLicenseOf(productId: string): Filter {
  return condition(
    `exists (
  select from licenses l where lower(l.customer_email) = lower(s.email) and l.product_id = ? and not l.is_test)`,
    productId,
  );
}

/** The condition of the first subscription, inclusive. */
export function isSince(time: Date): Filter {
  return isInTime('>=', time);
}

/** The condition of the first subscription, exclusive. */
export function isBefore(time: Date): Filter {
  return isInTime('<', time);
}

function isInTime(operator: '<' | '>=', time: Date): Filter {
  const inTime = condition(`s.first_subscribed_at ${operator} ?::timestamptz`, time);
  return { ...inTime, bounds: { first_subscribed_at: inTime } };
}

/** The condition of a search. */
export function matchesSearch(search: AddressSearch): Filter {
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
