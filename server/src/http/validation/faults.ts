import { parseDateTime, parseEmail, isStorableText, isUuid } from '@latchkey/contract';

import { findClosestName } from '#server/lib/closest-name.ts';

/** A fault of a value, in pydantic's words, which clients may compare. */
export interface Fault {
  readonly type: string;
  readonly msg: string;
}

export const missing: Fault = { type: 'missing', msg: 'Field required' };

/** The fault of a name that is not known. @param known the names that are */
export function findExtraFault(name: string, known: readonly string[]): Fault {
  const closest = findClosestName(name, known);
  const hint = closest === undefined ? '' : `: did you mean ${closest}?`;
  return { type: 'extra_forbidden', msg: `Extra inputs are not permitted${hint}` };
}

export const notAnObject: Fault = {
  type: 'model_attributes_type',
  msg: 'Input should be a valid dictionary or object to extract fields from',
};
export const notAMap: Fault = { type: 'dict_type', msg: 'Input should be a valid dictionary' };
export const notAList: Fault = { type: 'list_type', msg: 'Input should be a valid list' };

const notAString: Fault = { type: 'string_type', msg: 'Input should be a valid string' };

/** The limits of a string: its format, and its length in characters (code points, as JSON Schema counts). */
interface StringLimits {
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** @param limits a format that is not one of the contract's is read as text */
export function findStringFault(value: unknown, limits: StringLimits = {}): Fault | undefined {
  if (limits.format === 'uuid') return findUuidFault(value);
  if (limits.format === 'date-time') return findDateTimeFault(value);
  if (typeof value !== 'string') return notAString;
  if (limits.format === 'email') {
    const result = parseEmail(value);
    if ('email' in result) return undefined;
    return { type: 'value_error', msg: `value is not a valid email address: ${result.fault}` };
  }
  if (isStorableText(value)) return findLengthFault(value, limits);
  return value.isWellFormed()
    ? { type: 'value_error', msg: 'Value error, the character U+0000 is not allowed' }
    : {
        type: 'string_unicode',
        msg: 'Input should be a valid string, unable to parse raw data as a unicode string',
      };
}

function findLengthFault(
  value: string,
  { minLength = 0, maxLength = Infinity }: StringLimits,
): Fault | undefined {
  if (isLongerThan(value, maxLength)) return stringTooLong(maxLength);
  return isLongerThan(value, minLength - 1) ? undefined : stringTooShort(minLength);
}

/** Integers are strict: a text is none. */
export function findIntegerFault(
  value: unknown,
  {
    minimum = -Infinity,
    maximum = Infinity,
  }: { readonly minimum?: number; readonly maximum?: number },
): Fault | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    return { type: 'int_type', msg: 'Input should be a valid integer' };
  }
  if (value < minimum) {
    const msg = `Input should be greater than or equal to ${minimum}`;
    return { type: 'greater_than_equal', msg };
  }
  return value > maximum
    ? { type: 'less_than_equal', msg: `Input should be less than or equal to ${maximum}` }
    : undefined;
}

function isLongerThan(value: string, maxLength: number): boolean {
  return value.length > maxLength && Array.from(value).length > maxLength;
}

function stringTooLong(maxLength: number): Fault {
  return {
    type: 'string_too_long',
    msg: `String should have at most ${maxLength} character${maxLength === 1 ? '' : 's'}`,
  };
}

function stringTooShort(minLength: number): Fault {
  return {
    type: 'string_too_short',
    msg: `String should have at least ${minLength} character${minLength === 1 ? '' : 's'}`,
  };
}

function findUuidFault(value: unknown): Fault | undefined {
  if (typeof value !== 'string') {
    return { type: 'uuid_type', msg: 'UUID input should be a string, bytes or UUID object' };
  }
  return isUuid(value)
    ? undefined
    : {
        type: 'uuid_parsing',
        msg: 'Input should be a valid UUID, expected hexadecimal digits in groups of 8-4-4-4-12',
      };
}

function findDateTimeFault(value: unknown): Fault | undefined {
  if (typeof value !== 'string') {
    return { type: 'datetime_type', msg: 'Input should be a valid datetime' };
  }
  if (parseDateTime(value) !== undefined) return undefined;
  // A year 0 has its own type if the rest of the text is valid.
  return value.startsWith('0000') && parseDateTime(`2000${value.slice(4)}`) !== undefined
    ? { type: 'datetime_parsing', msg: 'Input should be a valid datetime, year 0 is out of range' }
    : {
        type: 'datetime_from_date_parsing',
        msg: 'Input should be a valid datetime or date, expected YYYY-MM-DDTHH:MM:SS and an offset up to 15:59',
      };
}

/** Booleans are strict: a value that could be converted to one has its own fault. */
export function findBooleanFault(value: unknown): Fault | undefined {
  if (typeof value === 'boolean') return undefined;
  return typeof value === 'string' || Number.isInteger(value)
    ? {
        type: 'bool_parsing',
        msg: 'Input should be a valid boolean, unable to interpret input',
      }
    : { type: 'bool_type', msg: 'Input should be a valid boolean' };
}

/** @param words the allowed words, of which there are at least two. */
export function notOneOf(words: readonly string[]): Fault {
  const quoted = words.map((word) => `'${word}'`);
  return {
    type: 'enum',
    msg: `Input should be ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`,
  };
}

export function tooShort(minItems: number, length: number): Fault {
  return {
    type: 'too_short',
    msg: `List should have at least ${count(minItems)} after validation, not ${length}`,
  };
}

export function tooLong(maxItems: number, length: number): Fault {
  return {
    type: 'too_long',
    msg: `List should have at most ${count(maxItems)} after validation, not ${length}`,
  };
}

function count(items: number): string {
  return items === 1 ? '1 item' : `${items} items`;
}
