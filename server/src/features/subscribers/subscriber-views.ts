import type {
  AdminSubscriber,
  AdminSubscriberDetail,
  AdminSubscriberRows,
} from '@latchkey/contract';

import { readTimeFilter } from '#server/lib/read-time-filter.ts';

import type { SubscriberFacts } from './facts.ts';
import type { SubscriberQuery } from './list-subscribers.ts';
import { stateOf } from './rules/subscription.ts';
import type { AddressView } from './view-subscribers.ts';

const isoOf = (time: Date | null | undefined): string | null => time?.toISOString() ?? null;
const timeOf = (name: 'since' | 'until', text: string | undefined): Date | null =>
  readTimeFilter('query', name, text) ?? null;

/** `listQuery` does not type the search. */
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Converts the query of a list to its filter. */
export function toSubscriberQuery(query: AdminSubscriberRows): SubscriberQuery {
  return {
    state: query.state ?? null,
    language: query.language ?? null,
    optIn: query.opt_in ?? null,
    productId: query.product ?? null,
    since: timeOf('since', query.since),
    until: timeOf('until', query.until),
    search: textOf(query.search),
  };
}

/** Converts a subscriber to its form in the operator interface. */
export function toSubscriberItem(subscriber: SubscriberFacts): AdminSubscriber {
  const { suppression } = subscriber;
  return {
    id: subscriber.id,
    email: subscriber.email,
    state: stateOf(subscriber),
    language: subscriber.language,
    opt_in: subscriber.optIn,
    first_subscribed_at: subscriber.firstSubscribedAt.toISOString(),
    subscribed_at: subscriber.subscribedAt.toISOString(),
    confirmed_at: isoOf(subscriber.confirmedAt),
    confirmation_mailed_at: isoOf(subscriber.confirmationMailedAt),
    confirmation_problem: subscriber.confirmationProblem,
    suppression_reason: suppression?.reason ?? null,
    suppressed_at: isoOf(suppression?.suppressedAt),
  };
}

/** Converts all data of a subscriber to its form in the operator interface. */
export function toSubscriberDetail({
  subscriber,
  outreach,
  history,
}: AddressView & { readonly subscriber: SubscriberFacts }): AdminSubscriberDetail {
  return {
    ...toSubscriberItem(subscriber),
    outreach: outreach.map(({ createdAt, ...mail }) => ({
      ...mail,
      created_at: createdAt.toISOString(),
    })),
    history: history.map(({ occurredAt, ...entry }) => ({
      ...entry,
      occurred_at: occurredAt.toISOString(),
    })),
  };
}
