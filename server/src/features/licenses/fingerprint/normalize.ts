import canonicalize from 'canonicalize';

/**
 * Normalizes a value for comparing: trimmed, in lower case, in Unicode's composed form (NFC); an array to its sorted
 * elements, an object to its members.
 * @returns undefined for empty values and placeholders
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
  return isPlaceholder(normalized) ? undefined : normalized;
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

/** Values of firmware, drivers and scripts for unknown data, in lower case. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  'none',
  'null',
  'nil',
  'undefined',
  'unknown',
  'invalid',
  'empty',
  'default',
  'default string',
  'n/a',
  'na',
  'not available',
  'not applicable',
  'not specified',
  'not present',
  'oem',
  'o.e.m.',
  'to be filled by oem',
  'to be filled by o.e.m',
  'to be filled by o.e.m.',
  'serial number',
  'system serial number',
  'base board serial number',
  'chassis serial number',
  'type2 - board serial number',
  '123456789',
  '0123456789',
  '1234567890',
  '03000200-0400-0500-0006-000700080009',
  '00020003-0004-0005-0006-000700080009',
]);

const SEPARATORS = /[\s:._-]+/gu;

/** Zeroed, unprogrammed and masked numbers, without separators. */
const ONE_REPEATED_DIGIT = /^(?:0+|f{4,}|x{4,})$/u;

/** Returns whether a normalised text is empty or a placeholder. */
function isPlaceholder(text: string): boolean {
  if (text === '' || PLACEHOLDERS.has(text)) return true;
  return ONE_REPEATED_DIGIT.test(text.replace(SEPARATORS, ''));
}

const LOCALLY_ADMINISTERED = 0x02;
const HEX_DIGITS = /^[0-9a-f]{12}$/u;

/**
 * Reads the hardware addresses of a value: a text (several separated by commas, semicolons or blanks), an array, or an
 * object by interface. Locally administered addresses (containers, `02:42:…`, random Wi-Fi) and zeros are left out,
 * because they change or are shared by many machines.
 */
export function readMacAddresses(value: unknown): readonly string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).flatMap(readMacAddresses);
  }
  if (typeof value !== 'string') return [];
  return value.split(/[\s,;]+/u).flatMap((part) => {
    const address = normalizeMacAddress(part);
    return address === undefined ? [] : [address];
  });
}

/** A text that is not an address may be the hash of one, and is used. */
function normalizeMacAddress(text: string): string | undefined {
  const normalized = normalizeValue(text);
  const digits = normalized?.replace(/[:.-]/gu, '');
  if (digits === undefined || !HEX_DIGITS.test(digits)) return normalized;
  const firstByte = Number.parseInt(digits.slice(0, 2), 16);
  return (firstByte & LOCALLY_ADMINISTERED) === 0 ? digits : undefined;
}
