import { parseEmail, type AdminSuppression, type AdminSuppressionRows } from '@latchkey/contract';

import type { ListOrder, Page, PageReader, PageRequest } from '#server/db/list.ts';
import type { CsvColumns } from '#server/lib/csv.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';

import { recordAccess } from '../audit/record-access.ts';
import { hashAddressUnderAll } from './address-hash.ts';
import type { ManualChangeDependencies } from './change-address.ts';
import {
  listAllSuppressions,
  listSuppressions,
  type SuppressionFilter,
  type SuppressionItem,
} from './queries/suppression-list.ts';
import type { AddressDependencies } from './stored-addresses.ts';

/** The columns of an export of suppressions. */
export const SUPPRESSION_COLUMNS = {
  address_hash: ({ addressHash }) => addressHash,
  email: ({ email }) => email,
  reason: ({ reason }) => reason,
  suppressed_at: ({ suppressedAt }) => suppressedAt,
} satisfies CsvColumns<SuppressionItem>;

/** A filter as an operator enters it: the text of the search is not interpreted. */
export type SuppressionQuery = Omit<SuppressionFilter, 'search'> & {
  readonly search: string | null;
};

/** Reads a page of suppressions, newest first. */
export function readSuppressionPage(
  deps: AddressDependencies,
  query: SuppressionQuery,
  request: PageRequest,
): Promise<Page<SuppressionItem>> {
  return listSuppressions(deps.pool, toSuppressionFilter(deps, query), request);
}

/** Records the export in the audit log, and returns all suppressions of a filter. */
export async function exportSuppressions(
  deps: ManualChangeDependencies & PageReader,
  query: SuppressionQuery,
  order: ListOrder,
  actor: string,
): Promise<AsyncGenerator<SuppressionItem>> {
  // Without the search, which contains an address.
  const filtered = Object.values(query).some((value) => value !== null);
  const details = { format: 'csv', filtered };
  const entry = { action: 'suppression.export', subjectId: 'suppressions', actor, reason: null };
  await recordAccess(deps, { ...entry, details });
  return listAllSuppressions(deps, toSuppressionFilter(deps, query), order);
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

/** Converts the query of a list to its filter. */
export function toSuppressionQuery(query: AdminSuppressionRows): SuppressionQuery {
  return {
    reason: query.reason ?? null,
    since: readTimeFilter('query', 'since', query.since) ?? null,
    until: readTimeFilter('query', 'until', query.until) ?? null,
    search: typeof query.search === 'string' ? query.search : null,
  };
}

/** Converts a suppression to its form in the operator interface. */
export function toSuppressionItem(item: SuppressionItem): AdminSuppression {
  return {
    address_hash: item.addressHash,
    email: item.email,
    subscriber_id: item.subscriberId,
    reason: item.reason,
    suppressed_at: item.suppressedAt.toISOString(),
  };
}
