import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';

/** The documentation of a field. */
interface Notes {
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
}

/** A string in a request: any text without U+0000 and lone surrogates (format `text`); lengths in characters. */
export function text(
  notes: Notes & { readonly minLength?: number; readonly maxLength?: number } = {},
): TUnsafe<string> {
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

/** An e-mail address that `parseEmail` accepts. */
export function email(notes: Notes = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', format: 'email', ...notes });
}

/** One of a closed list of values: one schema and one error, instead of one for each value of a union. */
export function oneOf<const T extends readonly string[]>(
  values: T,
  notes: Notes = {},
): TUnsafe<T[number]> {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...notes });
}

/** A whole number in a request. */
export function integer(
  notes: Notes & { readonly minimum: number; readonly maximum: number },
): TUnsafe<number> {
  return Type.Unsafe<number>({ type: 'integer', ...notes });
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

/** Any JSON object; the use case validates its content. */
export function freeObject(notes: Notes = {}): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    ...notes,
  });
}

/** Allows null: one schema with two types, not a union. */
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

/** The schemas that are referred to, by their names. */
const referred = new Map<string, TSchema>();

/**
 * Refers to a named schema, which the interface document contains once, under its name.
 * @param description the meaning in this place, such as of a response
 * @throws Error when another schema has the same name
 */
export function ref<T extends TSchema>(schema: T, description?: string): TUnsafe<Static<T>> {
  const name = nameOf(schema);
  if ((referred.get(name) ?? schema) !== schema) throw new Error(`two schemas are named ${name}`);
  referred.set(name, schema);
  return Type.Unsafe<Static<T>>({
    $ref: `${name}#`,
    ...(description === undefined ? {} : { description }),
  });
}

/** Lists every schema that files which are loaded refer to. */
export function listReferredSchemas(): TSchema[] {
  return [...referred.values()];
}

/** The `$id` of a named schema. */
export function nameOf(schema: TSchema): string {
  if ('$id' in schema && typeof schema.$id === 'string') return schema.$id;
  throw new TypeError('Only a schema with an $id can be referred to.');
}
