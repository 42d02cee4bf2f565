/** Readers of untrusted JSON fields: null or empty for a value of the wrong type. */
import { parseEmail } from '@latchkey/contract';
import { Type, type TSchema } from 'typebox';

import { UNREADABLE_QUANTITY, type BillingPeriod, type Occurrence } from '../facts.ts';

/** A JSON object with unknown fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

const EMPTY: JsonObject = {};

/** Ids are stored and logged: printable ASCII of limited length. */
const ID = /^[!-~]{1,200}$/;

/** The schema of an id. */
export const Id = Type.String({ pattern: ID });

/** The schema of a field that may be null or missing. */
export function optional<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** JSON allows characters that PostgreSQL cannot store: U+0000 and lone surrogates. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Checkouts have few lines; more are cut off. */
const MAX_LIST_LENGTH = 500;

/** The last second of the year 9999. */
const MAX_UNIX_SECONDS = 253_402_300_799;

/** A larger quantity is considered invalid. */
const MAX_QUANTITY = 100_000;

export function readObject(value: unknown): JsonObject {
  return isObject(value) ? value : EMPTY;
}

export function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_LIST_LENGTH) : [];
}

/** Reads the objects of a Stripe list (`{ data: [...] }`). */
export function readObjects(list: unknown): JsonObject[] {
  return readList(readObject(list)['data']).map(readObject);
}

/** Reads a text that is not empty. @param maxLength in characters */
export function readText(value: unknown, maxLength = 1_000): string | null {
  const isText = typeof value === 'string' && value !== '' && value.length <= maxLength;
  return isText && isStorable(value) ? value : null;
}

/** Reads an id: a text or an integer. */
export function readId(value: unknown): string | null {
  if (typeof value === 'string') return ID.test(value) ? value : null;
  return Number.isSafeInteger(value) ? String(value) : null;
}

/** Reads an identifier that must be a text, such as the type of an event. */
export function readName(value: unknown): string | null {
  return typeof value === 'string' ? readId(value) : null;
}

/** Reads the id of an object that may be expanded in place of its id. */
export function readReference(value: unknown): string | null {
  return readId(isObject(value) ? value['id'] : value);
}

/** Reads an integer, such as an amount in the currency's smallest unit. */
export function readInteger(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/** Reads the currency of a payment as a field of its fact; none if it is not a code of ISO 4217. */
export function readCurrency(value: unknown): { readonly currency?: string } {
  return typeof value === 'string' && /^[a-z]{3}$/i.test(value)
    ? { currency: value.toUpperCase() }
    : {};
}

/** Reads the country of a buyer as a field of a fact; none if it is not a code of ISO 3166-1. */
export function readCountry(value: unknown): { readonly country?: string } {
  return typeof value === 'string' && /^[a-z]{2}$/i.test(value)
    ? { country: value.toUpperCase() }
    : {};
}

/**
 * Returns the tax that a paid amount contains as a field of a fact; none if it is not reported. If credit paid a part of what
 * was billed, the tax is that of the rest.
 */
export function readTax(
  tax: number | null,
  paid: number | null,
  billed: number | null = paid,
): { readonly tax?: number } {
  if (tax === null || paid === null || billed === null) return {};
  return { tax: paid === billed || billed === 0 ? tax : Math.round((tax * paid) / billed) };
}

/** Reads the provider's own word for what happened as a field of a fact. */
export function readWord(value: unknown): { readonly reported?: string } {
  const reported = readText(value, 64);
  return reported === null ? {} : { reported };
}

/** Reads a quantity; 1 if it is missing, `UNREADABLE_QUANTITY` if it is not plausible. 0 is a quantity. */
export function readQuantity(value: unknown, maximum = MAX_QUANTITY): number {
  if (value === undefined || value === null) return 1;
  const quantity = readInteger(value) ?? UNREADABLE_QUANTITY;
  return quantity >= 0 && quantity <= maximum ? quantity : UNREADABLE_QUANTITY;
}

/** Reads a time in seconds since 1970. */
export function readUnixSeconds(value: unknown): Date | null {
  const seconds = readInteger(value);
  if (seconds === null || seconds <= 0 || seconds > MAX_UNIX_SECONDS) return null;
  return new Date(seconds * 1000);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads a single e-mail address by the rules of the interface. Display names and lists are rejected, because mail
 * software would read them as other recipients.
 */
export function readEmail(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const parsed = parseEmail(value);
  return 'email' in parsed ? parsed.email : null;
}

/** RFC 3339 with up to 12 fractional digits; the zone is optional. */
const DATE_TIME =
  /^(?<second>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(?<fraction>\d{1,12}))?(?<zone>Z|[+-]\d{2}:\d{2})?$/;

/** Paddle writes `0001-01-01T00:00:00Z` for a missing time. */
const FIRST_YEAR = 2;

/** The last year of RFC 3339; a zone may lead beyond it. */
const LAST_YEAR = 9999;

/** Reads a time in RFC 3339, truncated to milliseconds, in UTC by default; null for Paddle's `0001-01-01T00:00:00Z`. */
export function readTime(value: unknown): Date | null {
  const groups = typeof value === 'string' ? DATE_TIME.exec(value)?.groups : undefined;
  if (groups === undefined) return null;
  const milliseconds = (groups['fraction'] ?? '').slice(0, 3).padEnd(3, '0');
  const time = new Date(`${groups['second']}.${milliseconds}${groups['zone'] ?? 'Z'}`);
  const year = time.getUTCFullYear();
  return year >= FIRST_YEAR && year <= LAST_YEAR ? time : null;
}

/** Reads a time as {@link readTime} does, truncated to nanoseconds. */
export function readOccurrence(value: unknown): Occurrence | null {
  const occurredAt = readTime(value);
  if (occurredAt === null) return null;
  const fraction = DATE_TIME.exec(String(value))?.groups?.['fraction'] ?? '';
  const occurredNanos = Number(fraction.padEnd(9, '0').slice(3, 9));
  return occurredNanos === 0 ? { occurredAt } : { occurredAt, occurredNanos };
}

/** Reads a period; null if its start or end is missing. */
export function readPeriod(
  period: { readonly starts_at?: unknown; readonly ends_at?: unknown } | null | undefined,
): BillingPeriod | null {
  const startsAt = readTime(period?.starts_at);
  const endsAt = readTime(period?.ends_at);
  return startsAt === null || endsAt === null ? null : { startsAt, endsAt };
}
