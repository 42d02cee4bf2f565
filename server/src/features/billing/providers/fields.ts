import { parseEmail } from '@latchkey/contract';

import type { BillingPeriod, Occurrence } from '../facts.ts';

/** A JSON object of which nothing is known. */
export type JsonObject = Readonly<Record<string, unknown>>;

const NOTHING: JsonObject = {};

/** An id goes into the database and the log: printable ASCII, and an end. */
const ID = /^[!-~]{1,200}$/;

/** JSON can say what PostgreSQL cannot store: U+0000, and halves of a surrogate pair. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** A checkout has a few lines; what a stranger could add is not looked at. */
const MAX_LIST_LENGTH = 500;

/** The last second of the year 9999. */
const MAX_UNIX_SECONDS = 253_402_300_799;

/** More of anything is a mistake. */
const MAX_QUANTITY = 100_000;

/** Reads an object; an empty one for what is none, so that its fields are all not told. */
export function readObject(value: unknown): JsonObject {
  return isObject(value) ? value : NOTHING;
}

/** Reads a list; an empty one for what is none. */
export function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_LIST_LENGTH) : [];
}

/** Reads a text that says something, up to a length in characters; null for what is none. */
export function readText(value: unknown, maxLength = 1_000): string | null {
  const isText = typeof value === 'string' && value !== '' && value.length <= maxLength;
  return isText && isStorable(value) ? value : null;
}

/** Reads an id: a text, or a whole number, as some providers count theirs. */
export function readId(value: unknown): string | null {
  if (typeof value === 'string') return ID.test(value) ? value : null;
  return Number.isSafeInteger(value) ? String(value) : null;
}

/** Reads a word of the provider's own, such as an event's type; null for what is none. */
export function readName(value: unknown): string | null {
  return typeof value === 'string' ? readId(value) : null;
}

/** Reads the id of what may stand there itself, expanded. */
export function readReference(value: unknown): string | null {
  return readId(isObject(value) ? value['id'] : value);
}

/** Reads a whole number, such as an amount in the currency's smallest unit; null for what is none. */
export function readInteger(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/** Reads how many were sold; one where it is not told, or told as no number of things. */
export function readQuantity(value: unknown): number {
  const quantity = readInteger(value) ?? 1;
  return quantity >= 1 && quantity <= MAX_QUANTITY ? quantity : 1;
}

/** Reads a time in seconds since 1970; null for what is none. */
export function readUnixSeconds(value: unknown): Date | null {
  const seconds = readInteger(value);
  if (seconds === null || seconds <= 0 || seconds > MAX_UNIX_SECONDS) return null;
  return new Date(seconds * 1000);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads an e-mail address that a provider tells, as the interface reads those that it is sent: what is not exactly one
 * address is not known. A display name or a list would be read by mail software as other recipients.
 */
export function readEmail(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const parsed = parseEmail(value);
  return 'email' in parsed ? parsed.email : null;
}

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
