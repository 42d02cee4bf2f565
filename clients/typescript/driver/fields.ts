import type { JsonObject } from '../src/json.ts';

/** Returns a field that must be a text. @throws TypeError */
export function text(fields: JsonObject, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new TypeError(`${name} must be a text`);
  return value;
}

/** Returns a field that must be a list of texts. @throws TypeError */
export function texts(fields: JsonObject, name: string): string[] {
  const value = fields[name];
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) {
    throw new TypeError(`${name} must be a list of texts`);
  }
  return value;
}

/** Returns a number, or null without one. */
export function numberOrNull(fields: JsonObject, name: string): number | null {
  const value = fields[name];
  return typeof value === 'number' ? value : null;
}
