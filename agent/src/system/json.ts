// Parsers of JSON values. Each throws a TypeError for a value of another type.

export type Fields = Readonly<Record<string, unknown>>;

export function parseFields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError('An object is missing.');
  }
  return { ...value };
}

export function parseText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('A text is missing.');
  return value;
}

export function parseNumber(value: unknown): number {
  if (typeof value !== 'number') throw new TypeError('A number is missing.');
  return value;
}

export function parseFlag(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new TypeError('A flag is missing.');
  return value;
}

/** Parses a timestamp in ISO 8601. */
export function parseTime(value: unknown): Date {
  const time = new Date(parseText(value));
  if (Number.isNaN(time.getTime())) throw new TypeError('A timestamp is invalid.');
  return time;
}

export function parseList<T>(value: unknown, parseItem: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw new TypeError('A list is missing.');
  return value.map((item) => parseItem(item));
}

export function parseOneOf<T extends string>(value: unknown, words: readonly T[]): T {
  const found = words.find((word) => word === value);
  if (found === undefined) throw new TypeError(`One of ${words.join(', ')} is missing.`);
  return found;
}

export function parseNullable<T>(value: unknown, parse: (value: unknown) => T): T | null {
  return value === null ? null : parse(value);
}
