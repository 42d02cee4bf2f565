/**
 * Array parameters in PostgreSQL's own notation. The driver's general encoder escapes element by element and costs more
 * than the statement; these take only texts that need no escaping, which the caller has made sure of.
 */

/** UUIDs, which hold nothing but hexadecimal digits and hyphens. */
export function toUuidArray(ids: readonly (string | null)[]): string {
  return `{${ids.map((id) => id ?? 'NULL').join(',')}}`;
}

/** Bytes given as hexadecimal digits, for a bytea[] parameter. */
export function toByteaArray(hexadecimals: readonly string[]): string {
  return `{${hexadecimals.map((digits) => `\\\\x${digits}`).join(',')}}`;
}

/** Numbers, booleans, and texts of nothing but letters, digits, `.`, `-` and `_`. */
export function toPlainArray(values: readonly (number | boolean | string | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}
