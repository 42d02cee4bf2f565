import { type TNumber, type TObject, type TProperties, type TString, Type } from 'typebox';

/**
 * Creates an object schema without additional properties.
 * @param $id the name by which other schemas refer to it; default: none
 */
export function object<T extends TProperties>(properties: T, $id?: string): TObject<T> {
  return Type.Object(properties, {
    additionalProperties: false,
    ...($id === undefined ? {} : { $id }),
  });
}

/** Creates a schema for a ratio from 0 to 1. */
export function ratio(description: string): TNumber {
  return Type.Number({ minimum: 0, maximum: 1, description });
}

/** Creates a schema for a number that is not negative. */
export function amount(description: string): TNumber {
  return Type.Number({ minimum: 0, description });
}

/** Creates a schema for a number that may be negative. */
export function measure(description: string): TNumber {
  return Type.Number({ description });
}

/** Creates a schema for a text. @param example an example value */
export function name(description: string, example?: string): TString {
  return Type.String({ description, ...(example === undefined ? {} : { examples: [example] }) });
}
