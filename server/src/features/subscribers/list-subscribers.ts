import { parseEmail } from '@latchkey/contract';

import type { ListOrder, Page, PageReader, PageRequest } from '#server/db/list.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { recordAccess } from '../audit/record-access.ts';
import { hashAddressUnderAll } from '../suppressions/address-hash.ts';
import type { ManualChangeDependencies } from '../suppressions/change-address.ts';
import type { AddressDependencies } from '../suppressions/stored-addresses.ts';
import type { SubscriberFacts } from './facts.ts';
import {
  listAllSubscribers,
  listSubscribers,
  type AddressSearch,
  type SubscriberFilter,
} from './queries/subscriber-list.ts';
import { stateOf } from './rules/subscription.ts';

/** The columns of exports; the fields of a subscriber in JSON have the same names. */
export const SUBSCRIBER_COLUMNS = {
  id: (subscriber) => subscriber.id,
  email: (subscriber) => subscriber.email,
  state: (subscriber) => stateOf(subscriber),
  language: (subscriber) => subscriber.language,
  first_subscribed_at: (subscriber) => subscriber.firstSubscribedAt,
  subscribed_at: (subscriber) => subscriber.subscribedAt,
  confirmed_at: (subscriber) => subscriber.confirmedAt,
  opt_in: (subscriber) => subscriber.optIn,
  suppressed_at: (subscriber) => subscriber.suppression?.suppressedAt ?? null,
  confirmation_mailed_at: (subscriber) => subscriber.confirmationMailedAt,
  confirmation_problem: (subscriber) => subscriber.confirmationProblem,
} satisfies CsvColumns<SubscriberFacts>;

/** A filter as an operator enters it: the text of the search is not interpreted. */
export type SubscriberQuery = Omit<SubscriberFilter, 'search'> & { readonly search: string | null };
/** Reads a page of subscribers, newest first. */
export function readSubscriberPage(
  deps: AddressDependencies,
  query: SubscriberQuery,
  request: PageRequest,
): Promise<Page<SubscriberFacts>> {
  return listSubscribers(deps.pool, toSubscriberFilter(deps, query), request);
}

/** Records the export in the audit log, and returns all subscribers of a filter. */
export async function exportSubscribers(
  deps: ManualChangeDependencies & PageReader,
  query: SubscriberQuery,
  order: ListOrder,
  actor: string,
): Promise<AsyncGenerator<SubscriberFacts>> {
  // Without the search, which contains an address.
  const filtered = Object.values(query).some((value) => value !== null);
  const details = { format: 'csv', filtered, state: query.state };
  const entry = { action: 'subscriber.export', subjectId: 'subscribers', actor, reason: null };
  await recordAccess(deps, { ...entry, details });
  return listAllSubscribers(deps, toSubscriberFilter(deps, query), order);
}

function toSubscriberFilter(deps: AddressDependencies, query: SubscriberQuery): SubscriberFilter {
  return { ...query, search: query.search === null ? null : readAddressSearch(deps, query.search) };
}

/** A complete address is found in every spelling; anything else is the start of one. */
function readAddressSearch({ vault }: AddressDependencies, search: string): AddressSearch | null {
  const text = search.trim().toLowerCase();
  if (text === '') return null;
  if ('email' in parseEmail(text)) {
    return { kind: 'address', hashes: hashAddressUnderAll(vault, text) };
  }
  return text.startsWith('@') ? { kind: 'domain', text: text.slice(1) } : { kind: 'start', text };
}
