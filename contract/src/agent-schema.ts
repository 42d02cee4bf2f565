import { type TNumber, type TObject, type TProperties, type TString, Type } from 'typebox';

/**
 * These properties and no others.
 * @param $id the name under which it is referred to; left out: it has none
 */
export function object<T extends TProperties>(properties: T, $id?: string): TObject<T> {
  return Type.Object(properties, {
    additionalProperties: false,
    ...($id === undefined ? {} : { $id }),
  });
}

/** From 0 to 1. */
export function ratio(description: string): TNumber {
  return Type.Number({ minimum: 0, maximum: 1, description });
}

/** Anything that is counted or measured from 0 up. */
export function amount(description: string): TNumber {
  return Type.Number({ minimum: 0, description });
}

/** Anything that may be below 0. */
export function measure(description: string): TNumber {
  return Type.Number({ description });
}

/** @param example what it may look like */
export function name(description: string, example?: string): TString {
  return Type.String({ description, ...(example === undefined ? {} : { examples: [example] }) });
}
