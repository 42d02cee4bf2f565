import { createHash } from 'node:crypto';

import canonicalize from 'canonicalize';

/** The hash before the first entry. */
export const GENESIS_HASH = '0'.repeat(64);

/** The hashed columns of an entry. */
export interface AuditContent {
  readonly id: string;
  /** In UTC with microseconds, as PostgreSQL stores it: `2026-11-20T10:03:00.000000Z`. */
  readonly occurred_at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject_id: string;
  readonly reason: string | null;
  readonly details: unknown;
}

interface NewEntry {
  readonly id: string;
  readonly occurredAt: Date;
  readonly actor: string;
  readonly action: string;
  readonly subjectId: string;
  readonly reason: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Returns the content of a new entry. PostgreSQL stores no lone surrogates: they are replaced by U+FFFD. */
export function toContent(entry: NewEntry): AuditContent {
  const details = Object.entries(entry.details).map(([name, value]) => [
    name.toWellFormed(),
    typeof value === 'string' ? value.toWellFormed() : value,
  ]);
  return {
    id: entry.id,
    occurred_at: entry.occurredAt.toISOString().replace('Z', '000Z'),
    actor: entry.actor.toWellFormed(),
    action: entry.action.toWellFormed(),
    subject_id: entry.subjectId.toWellFormed(),
    reason: entry.reason?.toWellFormed() ?? null,
    details: Object.fromEntries(details),
  };
}

/**
 * Serializes the content of an entry by RFC 8785, so that equal content has equal bytes.
 * @throws {Error} for a number that JSON cannot represent
 */
export function canonicalizeContent(content: AuditContent): string {
  return canonicalize(content) ?? '';
}

/**
 * Returns the hash of an entry, 64 hex digits: SHA-256 of the previous hash, the sequence number as 8 bytes in big-endian
 * order, and the canonical content.
 */
export function hashEntry(previousHash: string, sequence: number, canonical: string): string {
  const number = Buffer.alloc(8);
  number.writeBigInt64BE(BigInt(sequence));
  return createHash('sha256')
    .update(Buffer.from(previousHash, 'hex'))
    .update(number)
    .update(canonical, 'utf8')
    .digest('hex');
}
