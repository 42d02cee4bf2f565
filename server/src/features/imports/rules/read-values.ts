import { parseDateTime } from '@latchkey/contract';

import { isRecord } from '#server/lib/unknown-values.ts';

/** A record of a source: values by name. */
export type SourceRecord = Readonly<Record<string, unknown>>;

/** Why a record cannot be imported: a sentence without the key and the address. */
export class RecordProblem extends Error {}

const MAX_TEXT_CHARACTERS = 10_000;

/** Numbers below are seconds since 1970, others milliseconds: in seconds it is a day of the year 5138. */
const LEAST_MILLISECONDS = 100_000_000_000;

const DATE =
  /^(?<day>\d{4}-\d{2}-\d{2})(?:[T ](?<time>\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))? ?(?<zone>Z|UTC|[+-]\d{2}:?\d{2})?$/u;
const GERMAN_DATE =
  /^(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})(?: (?<time>\d{2}:\d{2}(?::\d{2})?))?$/u;
const COUNT = /^(?<count>\d{1,9})(?:[.,]0{1,4})?$/u;

/** Reads a text, trimmed; null when it is absent or empty. The first name that has a value counts. */
export function readText(record: SourceRecord, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = record[name] ?? '';
    const isText =
      typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    if (!isText) throw new RecordProblem(`${name} is not a text.`);
    const text = String(value).trim();
    if (text.length > MAX_TEXT_CHARACTERS) throw new RecordProblem(`${name} is too long.`);
    if (text !== '') return text;
  }
  return null;
}

/** Reads a whole number, also `5.0` and `5,0`; null when it is absent or empty. */
export function readCount(record: SourceRecord, ...names: readonly string[]): number | null {
  const text = readText(record, ...names);
  if (text === null) return null;
  const { count } = COUNT.exec(text)?.groups ?? {};
  if (count !== undefined) return Number(count);
  throw new RecordProblem(`${names[0]} is not a whole number.`);
}

/** Reads a limit of machines: 0 and an empty value are `unlimited`, as in most systems. */
export function readLimit(record: SourceRecord, ...names: readonly string[]): number | 'unlimited' {
  const limit = readCount(record, ...names) ?? 0;
  return limit === 0 ? 'unlimited' : limit;
}

const YES = new Set(['true', '1', 'yes', 'y']);
const NO = new Set(['false', '0', 'no', 'n']);

/** Reads a flag such as `true`, `1` or `yes`; false when it is absent or empty. */
export function readFlag(record: SourceRecord, name: string): boolean {
  const text = readText(record, name)?.toLowerCase() ?? 'false';
  if (YES.has(text)) return true;
  if (NO.has(text)) return false;
  throw new RecordProblem(`${name} must be true or false.`);
}

/**
 * Reads a date or a date-time: ISO 8601, also with a space, seconds or milliseconds since 1970, and day.month.year, also with a time, as
 * spreadsheets write it. No zone means UTC, a date means 00:00.
 * @returns null when it is absent or empty
 */
export function readDate(record: SourceRecord, ...names: readonly string[]): Date | null {
  const text = readText(record, ...names);
  if (text === null) return null;
  const date = parseNumber(text) ?? parseIso(text) ?? parseGerman(text);
  if (date !== undefined) return date;
  throw new RecordProblem(
    `${names[0]} must be a date such as 2027-01-31, 2027-01-31 12:00:00 or 31.01.2027, or seconds since 1970.`,
  );
}

function parseNumber(text: string): Date | undefined {
  if (!/^\d{9,13}$/u.test(text)) return undefined;
  const value = Number(text);
  return new Date(value < LEAST_MILLISECONDS ? value * 1_000 : value);
}

function parseIso(text: string): Date | undefined {
  const { day, time = '00:00', zone = 'Z' } = DATE.exec(text)?.groups ?? {};
  if (day === undefined) return undefined;
  const offset = zone === 'UTC' || zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(-2)}`;
  return parseDateTime(`${day}T${time}${offset}`);
}

function parseGerman(text: string): Date | undefined {
  const { day = '', month = '', year, time = '00:00' } = GERMAN_DATE.exec(text)?.groups ?? {};
  if (year === undefined) return undefined;
  return parseDateTime(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}T${time}Z`);
}

/** Reads a nested object; an empty one when it is absent. */
export function readObject(record: SourceRecord, name: string): SourceRecord {
  const value = record[name];
  return isRecord(value) ? value : {};
}

/** Reads the objects of an array; none when it is absent. */
export function readObjects(record: SourceRecord, name: string): SourceRecord[] {
  const value = record[name];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Joins a first and a last name. */
export function joinName(...parts: readonly (string | null)[]): string | null {
  const name = parts.filter((part) => part !== null).join(' ');
  return name === '' ? null : name;
}

/** Returns the values that a record has under some names, as details of a license. */
export function pickDetails(
  record: SourceRecord,
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = readText(record, name);
      return text === null ? [] : [[name, text]];
    }),
  );
}
