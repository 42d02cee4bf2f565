import {
  parseEmail,
  type AdminSubscriber,
  type AdminSubscriberDetail,
  type subscribers,
} from '@latchkey/contract';
import type { Static } from 'typebox';

import { readTimeFilter } from '#server/lib/read-time-filter.ts';

import { selectFromBounded, type ListSource } from '../lists/list-source.ts';
import { hashAddressUnderAll } from '../suppressions/address-hash.ts';
import type { AddressDependencies } from '../suppressions/stored-addresses.ts';
import type { SubscriberFacts } from './facts.ts';
import * as list from './queries/subscriber-list.ts';
import { toSubscriber, type SubscriberRow } from './queries/subscribers.ts';
import { stateOf } from './rules/subscription.ts';
import type { AddressView } from './view-subscribers.ts';

/** Where the list of subscribers comes from. */
export function subscriberSource(
  deps: AddressDependencies,
): ListSource<typeof subscribers, Static<typeof SubscriberRow>> {
  const filters = {
    state: list.isInState,
    language: list.isInLanguage,
    opt_in: list.hasOptIn,
    product: list.hasLicenseOf,
    since: (time: string) => list.isSince(readTimeFilter('query', 'since', time)),
    until: (time: string) => list.isBefore(readTimeFilter('query', 'until', time)),
    search: (text: string) => list.matchesSearch(readSearch(deps, text.toLowerCase())),
  };
  return {
    read: selectFromBounded(deps, list.subscriberList, filters),
    view: (row) => viewSubscriber(toSubscriber(row)),
  };
}

/** A complete address is found in every spelling; anything else is the start of one. */
function readSearch({ vault }: AddressDependencies, text: string): list.AddressSearch {
  if ('email' in parseEmail(text)) {
    return { kind: 'address', hashes: hashAddressUnderAll(vault, text) };
  }
  return text.startsWith('@') ? { kind: 'domain', text: text.slice(1) } : { kind: 'start', text };
}

const isoOf = (time: Date | null | undefined): string | null => time?.toISOString() ?? null;

/** Converts a subscriber to an item of the interface. */
export function viewSubscriber(subscriber: SubscriberFacts): AdminSubscriber {
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

/** Converts all data of a subscriber to its form in the interface. */
export function viewSubscriberDetail({
  subscriber,
  outreach,
  history,
}: AddressView & { readonly subscriber: SubscriberFacts }): AdminSubscriberDetail {
  return {
    ...viewSubscriber(subscriber),
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
