/**
 * Array parameters in PostgreSQL's own notation. The driver's encoder examines the type of each element and costs more
 * than the statement; these know what they are given.
 */

/** UUIDs, which hold nothing but hexadecimal digits and hyphens. */
export function toUuidArray(ids: readonly (string | null)[]): string {
  return `{${ids.map((id) => id ?? 'NULL').join(',')}}`;
}

/** Bytes given as hexadecimal digits, for a bytea[] parameter. */
export function toByteaArray(hexadecimals: readonly string[]): string {
  return `{${hexadecimals.map((digits) => `\\\\x${digits}`).join(',')}}`;
}

/** Numbers, booleans, and texts of nothing but letters, digits, `.`, `-`, `_` and `:`. */
export function toPlainArray(values: readonly (number | boolean | string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** Any texts. */
export function toTextArray(texts: readonly (string | null)[]): string {
  return `{${texts.map((text) => (text === null ? 'NULL' : `"${escapeText(text)}"`)).join(',')}}`;
}

/**
 * Texts of JSON as `JSON.stringify` writes them, which hold no control characters. Quoted by it once more, they have just
 * the escapes that PostgreSQL reads, in a fifth of the time.
 */
export function toJsonArray(documents: readonly (string | null)[]): string {
  return `{${documents.map((json) => (json === null ? 'NULL' : JSON.stringify(json))).join(',')}}`;
}

function escapeText(text: string): string {
  return text.replace(/["\\]/g, '\\$&');
}
