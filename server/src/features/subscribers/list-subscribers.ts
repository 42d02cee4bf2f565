import { parseEmail } from '@latchkey/contract';

import type { ListOrder, Page, PageReader, PageRequest } from '#server/db/list.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { recordAccess } from '../audit/record-access.ts';
import { hashAddressUnderAll } from '../suppressions/address-hash.ts';
import type { AddressDependencies } from '../suppressions/stored-addresses.ts';
import type { SubscriberFacts } from './facts.ts';
import type { ManualChangeDependencies } from './manual-changes.ts';
import {
  listAllSubscribers,
  listSubscribers,
  type AddressSearch,
  type SubscriberFilter,
} from './queries/subscriber-list.ts';
import {
  listAllSuppressions,
  listSuppressions,
  type SuppressionFilter,
  type SuppressionItem,
} from './queries/suppression-list.ts';
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

/** The columns of an export of suppressions. */
export const SUPPRESSION_COLUMNS = {
  address_hash: ({ addressHash }) => addressHash,
  email: ({ email }) => email,
  reason: ({ reason }) => reason,
  suppressed_at: ({ suppressedAt }) => suppressedAt,
} satisfies CsvColumns<SuppressionItem>;

/** A filter as an operator enters it: the text of the search is not interpreted. */
export type SubscriberQuery = Omit<SubscriberFilter, 'search'> & { readonly search: string | null };
export type SuppressionQuery = Omit<SuppressionFilter, 'search'> & {
  readonly search: string | null;
};

/** Reads a page of subscribers, newest first. */
export function readSubscriberPage(
  deps: AddressDependencies,
  query: SubscriberQuery,
  request: PageRequest,
): Promise<Page<SubscriberFacts>> {
  return listSubscribers(deps.pool, toSubscriberFilter(deps, query), request);
}

/** Reads a page of suppressions, newest first. */
export function readSuppressionPage(
  deps: AddressDependencies,
  query: SuppressionQuery,
  request: PageRequest,
): Promise<Page<SuppressionItem>> {
  return listSuppressions(deps.pool, toSuppressionFilter(deps, query), request);
}

/** Records the export in the audit log, and returns all subscribers of a filter. */
export async function exportSubscribers(
  deps: ManualChangeDependencies & PageReader,
  query: SubscriberQuery,
  order: ListOrder,
  actor: string,
): Promise<AsyncGenerator<SubscriberFacts>> {
  await recordExport(deps, 'subscriber.export', query, actor);
  return listAllSubscribers(deps, toSubscriberFilter(deps, query), order);
}

/** Records the export in the audit log, and returns all suppressions of a filter. */
export async function exportSuppressions(
  deps: ManualChangeDependencies & PageReader,
  query: SuppressionQuery,
  order: ListOrder,
  actor: string,
): Promise<AsyncGenerator<SuppressionItem>> {
  await recordExport(deps, 'suppression.export', query, actor);
  return listAllSuppressions(deps, toSuppressionFilter(deps, query), order);
}

/** Without the search, which contains an address. */
async function recordExport(
  deps: ManualChangeDependencies,
  action: 'subscriber.export' | 'suppression.export',
  query: SubscriberQuery | SuppressionQuery,
  actor: string,
): Promise<void> {
  const details = {
    format: 'csv',
    filtered: Object.values(query).some((value) => value !== null),
    ...('state' in query ? { state: query.state } : {}),
  };
  const subjectId = action === 'subscriber.export' ? 'subscribers' : 'suppressions';
  await recordAccess(deps, { action, subjectId, actor, reason: null, details });
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

/** Finds nothing: no hash has this address. */
const NO_HASHES: readonly string[] = [];

function toSuppressionFilter(
  { vault }: AddressDependencies,
  query: SuppressionQuery,
): SuppressionFilter {
  const text = query.search?.trim().toLowerCase() ?? '';
  if (text === '') return { ...query, search: null };
  if (/^[\da-f]{1,64}$/u.test(text)) return { ...query, search: text };
  const isAddress = 'email' in parseEmail(text);
  return { ...query, search: isAddress ? hashAddressUnderAll(vault, text) : NO_HASHES };
}
