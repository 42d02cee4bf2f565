import canonicalize from 'canonicalize';
import { isJunk } from './junk.ts';

/**
 * The text by which a value is compared: trimmed, in lower case, in Unicode's composed form (NFC); for an array its sorted
 * elements, for an object its members.
 * @returns undefined when nothing of use is in it
 */
export function normalizeValue(value: unknown): string | undefined {
  if (typeof value === 'string') return normalizeText(value);
  if (typeof value === 'number' || typeof value === 'boolean') return normalizeText(String(value));
  if (Array.isArray(value)) return normalizeArray(value);
  if (typeof value === 'object' && value !== null) return normalizeObject(value);
  return undefined;
}

/** Canonical JSON (RFC 8785), in which the order of keys and the spelling of numbers do not matter. */
export function toCanonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}

function normalizeText(text: string): string | undefined {
  // Composed last: lower-casing can separate a letter from its mark.
  const normalized = text.trim().toLowerCase().normalize('NFC');
  return isJunk(normalized) ? undefined : normalized;
}

function normalizeArray(elements: readonly unknown[]): string | undefined {
  const texts = elements.map(normalizeValue).filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : toCanonicalJson(texts.sort());
}

function normalizeObject(object: object): string | undefined {
  const members = Object.entries(object).flatMap(([key, value]) => {
    const text = normalizeValue(value);
    return text === undefined ? [] : [[key, text] as const];
  });
  return members.length === 0 ? undefined : toCanonicalJson(Object.fromEntries(members));
}
