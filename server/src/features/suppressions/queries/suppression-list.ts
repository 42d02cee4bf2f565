import { SUPPRESSION_REASONS } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import {
  condition,
  defineList,
  queryAllPages,
  queryPage,
  type Condition,
  type ListOrder,
  type Page,
  type PageReader,
  type PageRequest,
} from '#server/db/list.ts';
import { toByteaArray } from '#server/db/hot-statement.ts';
import { Nullable, Timestamp, type Queryable } from '#server/db/statement.ts';

const SuppressionItem = Type.Object({
  addressHash: Type.String(),
  reason: Type.Enum(SUPPRESSION_REASONS),
  suppressedAt: Timestamp,
  email: Nullable.Text,
  subscriberId: Nullable.Text,
});

/** A suppression, with the subscriber of its address. */
export type SuppressionItem = Readonly<Static<typeof SuppressionItem>>;

const suppressionList = defineList({
  name: 'suppression_list',
  row: SuppressionItem,
  columns: `encode(p.address_hash, 'hex') as address_hash, p.reason, p.suppressed_at,
            s.email, s.id as subscriber_id`,
  from: 'suppressions p left join subscribers s using (address_hash)',
  id: { sql: 'p.address_hash', type: 'bytea' },
  sorts: { suppressed_at: { sql: 'p.suppressed_at', type: 'timestamptz' } },
});

/** A filter of suppressions; null: any. */
export interface SuppressionFilter {
  readonly reason: SuppressionItem['reason'] | null;
  /** Inclusive. */
  readonly since: Date | null;
  /** Exclusive. */
  readonly until: Date | null;
  /** The hashes of an address, or the first digits of a hash. */
  readonly search: readonly string[] | string | null;
}

export async function listSuppressions(
  db: Queryable,
  filter: SuppressionFilter,
  request: PageRequest,
): Promise<Page<SuppressionItem>> {
  return queryPage(db, suppressionList, request, toConditions(filter));
}

export function listAllSuppressions(
  reader: PageReader,
  filter: SuppressionFilter,
  order: ListOrder,
): AsyncGenerator<SuppressionItem> {
  return queryAllPages(reader, suppressionList, order, toConditions(filter));
}

function toConditions({ reason, since, until, search }: SuppressionFilter): Condition[] {
  return [
    ...(reason === null ? [] : [condition('p.reason = ?', reason)]),
    ...(since === null ? [] : [condition('p.suppressed_at >= ?', since)]),
    ...(until === null ? [] : [condition('p.suppressed_at < ?', until)]),
    ...(search === null ? [] : [toSearchCondition(search)]),
  ];
}

const HASH_DIGITS = 64;

/** The start of a hash is a range of hashes. */
function toSearchCondition(search: readonly string[] | string): Condition {
  if (typeof search !== 'string') {
    return condition('p.address_hash = any (?::bytea[])', toByteaArray(search));
  }
  return condition(
    "p.address_hash between decode(?, 'hex') and decode(?, 'hex')",
    search.padEnd(HASH_DIGITS, '0'),
    search.padEnd(HASH_DIGITS, 'f'),
  );
}
