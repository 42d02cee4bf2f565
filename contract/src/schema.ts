import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';

/** The documentation that any field may carry. */
interface Notes {
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
}

/** A string in a request: any text without U+0000 and lone surrogates (format `text`); `maxLength` in characters. */
export function text(notes: Notes & { readonly maxLength?: number } = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', format: 'text', ...notes });
}

/** A UUID in the 8-4-4-4-12 form. */
export function uuid(notes: Notes = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', format: 'uuid', ...notes });
}

/** An ISO 8601 date-time; in answers always RFC 3339 in UTC with `Z`. */
export function dateTime(notes: Notes = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', format: 'date-time', ...notes });
}

/** An e-mail address, as `parseEmail` reads it. */
export function email(notes: Notes = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', format: 'email', ...notes });
}

/** One of a closed list of words: one schema and one fault, where a union would give one per word. */
export function oneOf<const T extends readonly string[]>(
  values: T,
  notes: Notes = {},
): TUnsafe<T[number]> {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...notes });
}

/** A map from text to text. */
export function textMap(notes: Notes = {}): TUnsafe<Record<string, string>> {
  return Type.Unsafe<Record<string, string>>({
    type: 'object',
    propertyNames: { type: 'string', format: 'text' },
    additionalProperties: { type: 'string', format: 'text' },
    ...notes,
  });
}

/** Any JSON object; the use case decides what may be in it. */
export function freeObject(notes: Notes = {}): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    ...notes,
  });
}

/** The same schema, null allowed: one schema with two types, never a union. */
export function nullable<T>(schema: TUnsafe<T>): TUnsafe<T | null> {
  const { type, enum: words, ...rest } = { type: 'string', enum: undefined, ...schema };
  return Type.Unsafe<T | null>({
    type: [type, 'null'],
    ...(Array.isArray(words) ? { enum: [...words, null] } : {}),
    ...rest,
  });
}

/** A nullable string in an answer. */
export function nullableString(notes: Notes = {}): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...notes });
}

/**
 * Points to a named schema, so that it appears once, under its name, in the interface document.
 * @param description what it means in this place, such as an answer's.
 */
export function ref<T extends TSchema>(schema: T, description?: string): TUnsafe<Static<T>> {
  return Type.Unsafe<Static<T>>({
    $ref: `${nameOf(schema)}#`,
    ...(description === undefined ? {} : { description }),
  });
}

/** The `$id` of a named schema. */
export function nameOf(schema: TSchema): string {
  if ('$id' in schema && typeof schema.$id === 'string') return schema.$id;
  throw new TypeError('Only a schema with an $id can be referred to.');
}
