import type { CustomTypesConfig, QueryArrayResult } from 'pg';

import { sendArrayQuery, type Queryable } from './send-query.ts';

/** A statement on a hot path: its rows are arrays of texts, in the order of the columns, which the caller parses. */
export interface HotStatement {
  readonly name: string;
  readonly text: string;
}

/** A row in PostgreSQL's text format: a text, or null, for each column. */
export type TextRow = readonly (string | null)[];

const asText: CustomTypesConfig = { getTypeParser: () => (value: unknown) => value };

/**
 * Runs a set-based statement on a hot path. Measured with batches of 128 rows: an object per row and a Date per
 * timestamp cost more of Node's time than the rest of a validation, so neither is created here.
 */
export function runHot(
  db: Queryable,
  statement: HotStatement,
  parameters: readonly string[],
): Promise<QueryArrayResult<(string | null)[]>> {
  return sendArrayQuery(db, {
    name: statement.name,
    text: statement.text,
    values: [...parameters],
    rowMode: 'array',
    types: asText,
  });
}

/*
 * Array parameters in PostgreSQL's text format. The driver's encoder inspects the type of each element, which costs
 * more than the statement.
 */

/** Formats UUIDs, which contain only hexadecimal digits and hyphens. */
export function toUuidArray(ids: readonly (string | null)[]): string {
  return `{${ids.map((id) => id ?? 'NULL').join(',')}}`;
}

/** Formats bytes, given as hexadecimal digits, for a bytea[] parameter. */
export function toByteaArray(hexadecimals: readonly string[]): string {
  return `{${hexadecimals.map((digits) => `\\\\x${digits}`).join(',')}}`;
}

/** Formats numbers, booleans, and texts of letters, digits, `.`, `-`, `_` and `:`. */
export function toPlainArray(values: readonly (number | boolean | string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** Formats any texts. */
export function toTextArray(texts: readonly (string | null)[]): string {
  return `{${texts.map((text) => (text === null ? 'NULL' : `"${escapeText(text)}"`)).join(',')}}`;
}

/**
 * Formats JSON from `JSON.stringify`, which contains no control characters. Stringified once more, it has the escapes
 * that PostgreSQL reads, five times as fast as {@link toTextArray}.
 */
export function toJsonArray(documents: readonly (string | null)[]): string {
  return `{${documents.map((json) => (json === null ? 'NULL' : JSON.stringify(json))).join(',')}}`;
}

function escapeText(text: string): string {
  return text.replace(/["\\]/g, '\\$&');
}
