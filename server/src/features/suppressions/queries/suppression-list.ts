import { SUPPRESSION_REASONS } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import { toByteaArray } from '#server/db/hot-statement.ts';
import { condition, defineList, type Condition } from '#server/db/list.ts';
import { Nullable, Timestamp } from '#server/db/statement.ts';

const SuppressionItem = Type.Object({
  addressHash: Type.String(),
  reason: Type.Enum(SUPPRESSION_REASONS),
  suppressedAt: Timestamp,
  email: Nullable.Text,
  subscriberId: Nullable.Text,
});

/** A suppression, with the subscriber of its address. */
export type SuppressionItem = Readonly<Static<typeof SuppressionItem>>;

/** Suppressions, with the subscriber of each address. */
export const suppressionList = defineList({
  name: 'suppression_list',
  row: SuppressionItem,
  columns: `encode(p.address_hash, 'hex') as address_hash, p.reason, p.suppressed_at,
            s.email, s.id as subscriber_id`,
  from: 'suppressions p left join subscribers s using (address_hash)',
  id: { sql: 'p.address_hash', type: 'bytea' },
  sorts: { suppressed_at: { sql: 'p.suppressed_at', type: 'timestamptz' } },
});

export function hasReason(reason: SuppressionItem['reason']): Condition {
  return condition('p.reason = ?', reason);
}

export function isSince(time: Date): Condition {
  return condition('p.suppressed_at >= ?', time);
}

export function isBefore(time: Date): Condition {
  return condition('p.suppressed_at < ?', time);
}

const HASH_DIGITS = 64;

/** The condition of the hashes of an address, or of the first digits of a hash: those are a range of hashes. */
export function matchesSearch(search: readonly string[] | string): Condition {
  if (typeof search !== 'string') {
    return condition('p.address_hash = any (?::bytea[])', toByteaArray(search));
  }
  return condition(
    "p.address_hash between decode(?, 'hex') and decode(?, 'hex')",
    search.padEnd(HASH_DIGITS, '0'),
    search.padEnd(HASH_DIGITS, 'f'),
  );
}
