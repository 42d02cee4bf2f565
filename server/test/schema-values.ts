import { parseDateTime, parseEmail, isStorableText } from '@latchkey/contract';
import * as fc from 'fast-check';

/** The JSON Schema keywords in requests of the interface. */
export interface RequestSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly maxLength?: number;
  readonly enum?: readonly (string | null)[];
  readonly properties?: Readonly<Record<string, RequestSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | RequestSchema;
  readonly items?: RequestSchema;
}

/** Longer lists take time without further coverage. */
const MAX_ITEMS = 3;

/**
 * Generates values that match a schema, including edge cases.
 * @param resolve returns the schema of a reference
 */
export function valuesOf(
  schema: RequestSchema,
  resolve: (ref: string) => RequestSchema,
): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return valuesOf(resolve(schema.$ref), resolve);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const types = [schema.type ?? 'object'].flat();
  return fc.oneof(...types.map((type) => valuesOfType(type, schema, resolve)));
}

function valuesOfType(
  type: string,
  schema: RequestSchema,
  resolve: (ref: string) => RequestSchema,
): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'string':
      return textsOf(schema.format, schema.maxLength);
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}, resolve), {
        minLength: 1,
        maxLength: MAX_ITEMS,
      });
    case 'object':
      return objectsOf(schema, resolve);
    default:
      throw new TypeError(`no request has a field of type ${type}`);
  }
}

function objectsOf(
  { properties, required = [], additionalProperties }: RequestSchema,
  resolve: (ref: string) => RequestSchema,
): fc.Arbitrary<unknown> {
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(
      ([name, field]) => [name, valuesOf(field, resolve)] as const,
    );
    return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] });
  }
  if (typeof additionalProperties === 'object') {
    return fc.dictionary(texts, valuesOf(additionalProperties, resolve), { maxKeys: 4 });
  }
  return freeObjects;
}

const texts = fc
  .oneof(
    { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
    fc.constantFrom('', ' ', '__proto__', 'constructor', 'toString', '{}', '1e999', '\u202e'),
    fc.nat(2_000).map((length) => '\u{1f469}'.repeat(length)),
  )
  .filter(isStorableText);

const plainValues = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).filter(isStorableText),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(null, true, false, '', '  ', 0, '02:42:ac:11:00:02', 'To be filled by O.E.M.'),
);

/** Generates a fingerprint: any keys and values within its limits. */
const freeObjects = fc.dictionary(
  fc.oneof(
    fc.constantFrom('machine_id', 'deviceId', 'macs', 'cpu_id', 'os_version', 'disk.serial'),
    texts.filter((text) => text.length < 100),
  ),
  fc.oneof(
    plainValues,
    fc.array(plainValues, { maxLength: 3 }),
    fc.dictionary(
      texts.filter((text) => text.length < 100),
      plainValues,
      { maxKeys: 3 },
    ),
  ),
  { minKeys: 1, maxKeys: 4 },
);

function textsOf(format = 'text', maxLength = Infinity): fc.Arbitrary<string> {
  switch (format) {
    case 'uuid':
      return uuids;
    case 'date-time':
      return dateTimes;
    case 'email':
      return emails;
    default:
      return texts.map((text) => Array.from(text).slice(0, maxLength).join(''));
  }
}

const uuids = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.constantFrom('0', 'f').map((digit) => `${digit.repeat(8)}-0000-0000-0000-${digit.repeat(12)}`),
);

const dateTimes = fc
  .tuple(
    fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    }),
    fc.constantFrom('T', 't', ' ', '_'),
    fc
      .constantFrom('', ':59', `:00.${'1'.repeat(200)}`, ',999999999')
      .map((end) => end.replace(',', ':07,')),
    fc.constantFrom('', 'Z', 'z', '+15:59', '-15:59', '+0530', '\u221203:00'),
  )
  .map(([date, separator, end, zone]) => {
    const [day = '', time = ''] = date.toISOString().split('T');
    return day + separator + time.slice(0, 5) + end + zone;
  })
  .filter((text) => parseDateTime(text) !== undefined);

const label = fc.oneof(
  fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,6}[a-z0-9])?$/u),
  fc.stringMatching(/^(?:0x|xn--)[0-9a-f]{0,5}$/u),
  fc.constantFrom('com', 'example', 'BÜCHER', '\uff45\uff58', '日本', '0', '0x7f', 'ⓔ', 'ß', 'ا'),
);

const emails = fc
  .tuple(
    fc.oneof(
      fc.stringMatching(/^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~.äЖ-]{1,64}$/u),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }),
    ),
    fc.array(label, { minLength: 2, maxLength: 4 }),
  )
  .map(([local, labels]) => `${local}@${labels.join('.')}`)
  .filter((text) => 'email' in parseEmail(text));
