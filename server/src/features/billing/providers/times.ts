import type { BillingPeriod, Occurrence } from '../facts.ts';

/** RFC 3339, with any number of digits after the second: nanoseconds occur. */
const DATE_TIME =
  /^(?<second>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(?<fraction>\d{1,12}))?(?<zone>Z|[+-]\d{2}:\d{2})?$/;

/** Paddle writes the first day of the first year where there is no time: no provider's real time is as old. */
const FIRST_REAL_YEAR = 2;

/** RFC 3339 has no later one; a zone may lead beyond it. */
const LAST_YEAR = 9999;

/** Reads a time, cut to milliseconds, without a zone as UTC; null for what is none, `0001-01-01T00:00:00Z` among it. */
export function readTime(value: unknown): Date | null {
  const groups = typeof value === 'string' ? DATE_TIME.exec(value)?.groups : undefined;
  if (groups === undefined) return null;
  const milliseconds = (groups['fraction'] ?? '').slice(0, 3).padEnd(3, '0');
  const time = new Date(`${groups['second']}.${milliseconds}${groups['zone'] ?? 'Z'}`);
  const year = time.getUTCFullYear();
  return year >= FIRST_REAL_YEAR && year <= LAST_YEAR ? time : null;
}

/**
 * Reads when something occurred, with all digits down to the nanosecond; further ones are cut. Null for what `readTime`
 * does not read.
 */
export function readOccurrence(value: unknown): Occurrence | null {
  const occurredAt = readTime(value);
  if (occurredAt === null) return null;
  const fraction = DATE_TIME.exec(String(value))?.groups?.['fraction'] ?? '';
  const occurredNanos = Number(fraction.padEnd(9, '0').slice(3, 9));
  return occurredNanos === 0 ? { occurredAt } : { occurredAt, occurredNanos };
}

/** Reads a span; null when one of its ends is not told. */
export function readPeriod(
  period: { readonly starts_at?: unknown; readonly ends_at?: unknown } | null | undefined,
): BillingPeriod | null {
  const startsAt = readTime(period?.starts_at);
  const endsAt = readTime(period?.ends_at);
  return startsAt === null || endsAt === null ? null : { startsAt, endsAt };
}
