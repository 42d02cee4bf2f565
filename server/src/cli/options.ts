/** The options and arguments that several commands share, and the parsers of their values. */
import { isUuid, parseDateTime, parseEmail } from '@latchkey/contract';
import { InvalidArgumentError } from 'commander';

import { argument, option } from './parameters.ts';

/** The reason of a change or of an access to secrets or personal data; the audit log keeps it. */
export const reasonOption = option('--reason <text>', 'reason for the audit log', shortText);

export const requiredReasonOption = option(
  '--reason <text>',
  'reason for the audit log',
  shortText,
).required();

const MAX_LIMIT = 10_000;

export function limitOption(defaultLimit: number) {
  const description = `maximum number of entries, at most ${MAX_LIMIT}`;
  return option('--limit <n>', description, wholeNumber(1, MAX_LIMIT)).default(defaultLimit);
}

export const cursorOption = option('--cursor <id>', 'next_cursor of the previous page', cursor);

/** @param maxMs how long the previous secret may stay valid, in milliseconds */
export function overlapOption(maxMs: number) {
  const description = `time for which the previous one stays valid: 30m, 24h, 7d or 0, at most ${maxMs / DAY_MS}d`;
  return option('--overlap <time>', description, duration(maxMs)).default(DAY_MS, '24h');
}

/** The expiry of something new, as a time or in days. */
export function expiryOptions(defaultExpiry: string) {
  return [
    option(
      '--expires <time>',
      `expiry date or date-time in UTC (default: ${defaultExpiry})`,
      timestamp,
    ).conflicts('days'),
    option('--days <n>', 'expiry in days from now', wholeNumber(1, MAX_DAYS)),
  ] as const;
}

export const addressArgument = argument(
  '<address>',
  'e-mail address, in upper or lower case',
  emailAddress,
);

/** A hundred years. */
export const MAX_DAYS = 36_500;

/** Parses a whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/u.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

/** Parses a date, which means 00:00 UTC, or a date-time. */
export function timestamp(text: string): Date {
  const parsed = parseDateTime(/^\d{4}-\d{2}-\d{2}$/u.test(text) ? `${text}T00:00:00Z` : text);
  if (parsed !== undefined) return parsed;
  throw new InvalidArgumentError('Expected a date such as 2027-01-01 or 2027-01-01T12:00:00Z.');
}

export const DAY_MS = 86_400_000;

const UNIT_MS = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', DAY_MS],
]);

/** Parses a duration such as `30m`, `24h`, `7d` or `0` to milliseconds. */
export function duration(maxMs: number): (text: string) => number {
  return (text) => {
    const { count, unit } = /^(?<count>\d{1,6})(?<unit>[mhd])$/u.exec(text)?.groups ?? {};
    const value = Number(count) * (UNIT_MS.get(unit ?? '') ?? Number.NaN);
    if (text === '0') return 0;
    if (value <= maxMs) return value;
    throw new InvalidArgumentError(
      `Expected a duration such as 30m, 24h or 7d, at most ${maxMs / DAY_MS} days.`,
    );
  };
}

export function emailAddress(text: string): string {
  const parsed = parseEmail(text);
  if ('email' in parsed) return parsed.email;
  throw new InvalidArgumentError('Expected an e-mail address such as ann@example.com.');
}

const MAX_TEXT_CHARACTERS = 1_000;

/** Parses non-empty text without control characters. */
export function shortText(text: string): string {
  const trimmed = text.trim();
  if (trimmed !== '' && trimmed.length <= MAX_TEXT_CHARACTERS && !/\p{Cc}/u.test(trimmed)) {
    return trimmed;
  }
  throw new InvalidArgumentError(
    `Expected text on one line, at most ${MAX_TEXT_CHARACTERS} characters.`,
  );
}

/** Lets an option also remove a value: an empty text stays empty. */
export function orEmpty(parse: (text: string) => string): (text: string) => string {
  return (text) => (text.trim() === '' ? '' : parse(text));
}

/** Parses the `next_cursor` of a list. */
function cursor(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Expected the next_cursor of the previous page.');
}
