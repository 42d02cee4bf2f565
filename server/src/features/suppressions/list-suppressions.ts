import { parseEmail, type AdminSuppression, type suppressions } from '@latchkey/contract';

import { readTimeFilter } from '#server/lib/read-time-filter.ts';

import { selectFrom, type ListSource } from '../lists/list-source.ts';
import { hashAddressUnderAll } from './address-hash.ts';
import * as list from './queries/suppression-list.ts';
import type { AddressDependencies } from './stored-addresses.ts';

/** Where the list of suppressions comes from. */
export function suppressionSource(
  deps: AddressDependencies,
): ListSource<typeof suppressions, list.SuppressionItem> {
  const filters = {
    reason: list.hasReason,
    since: (time: string) => list.isSince(readTimeFilter('query', 'since', time)),
    until: (time: string) => list.isBefore(readTimeFilter('query', 'until', time)),
    search: (text: string) => list.matchesSearch(readSearch(deps, text.toLowerCase())),
  };
  return { read: selectFrom(deps, list.suppressionList, filters), view: viewSuppression };
}

/** Finds nothing: no hash has this address. */
const NO_HASHES: readonly string[] = [];

function readSearch({ vault }: AddressDependencies, text: string): readonly string[] | string {
  if (/^[\da-f]{1,64}$/u.test(text)) return text;
  return 'email' in parseEmail(text) ? hashAddressUnderAll(vault, text) : NO_HASHES;
}

function viewSuppression(item: list.SuppressionItem): AdminSuppression {
  return {
    address_hash: item.addressHash,
    email: item.email,
    subscriber_id: item.subscriberId,
    reason: item.reason,
    suppressed_at: item.suppressedAt.toISOString(),
  };
}
