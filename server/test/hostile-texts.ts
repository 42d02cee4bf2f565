/** The JSON Schema keywords of texts in requests of the interface. */
export interface TextSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, TextSchema>>;
  readonly additionalProperties?: boolean | TextSchema;
  readonly items?: TextSchema;
  readonly anyOf?: readonly TextSchema[];
}

/** A long text: a beginning, then a unit many times. */
export interface Shape {
  readonly start: string;
  readonly unit: string;
}

/** Blanks and separators for which parsers look, and beginnings without an end. */
export const SHAPES: readonly Shape[] = [
  { start: '', unit: ' ' },
  { start: '{{', unit: ' ' },
  { start: 'x', unit: '\t' },
  { start: '# ', unit: '\n' },
  { start: '', unit: '(' },
  { start: '', unit: '\\' },
  { start: 'a', unit: ',' },
  { start: '', unit: '=' },
  { start: '', unit: '{{' },
  { start: '', unit: '"a",' },
  { start: '', unit: '-eyJ' },
];

/** Returns a text of this length whose end matches nothing. */
export function repeatTo({ start, unit }: Shape, length: number): string {
  const text = start + unit.repeat(Math.ceil(length / unit.length));
  return `${text.slice(0, length - 1)}\u00E9`;
}

export interface FillOptions {
  readonly shape: Shape;
  /** Of texts without a limit of their own. */
  readonly length: number;
  /** Whether texts with a format (addresses, ids, times) are also hostile, which the validation refuses. */
  readonly fillsFormats: boolean;
  readonly resolve: (reference: string) => TextSchema;
}

/** Returns a value of a schema with all of its members, in which every text has the longest admissible length. */
export function fill(schema: TextSchema, options: FillOptions): unknown {
  const { resolve } = options;
  if (schema.$ref !== undefined) return fill(resolve(schema.$ref), options);
  if (schema.anyOf !== undefined) return fill(schema.anyOf[0] ?? {}, options);
  if (schema.enum !== undefined) return schema.enum[0];
  const [type] = [schema.type ?? 'object'].flat();
  if (type === 'string') return fillText(schema, options);
  if (type === 'array') return [fill(schema.items ?? {}, options)];
  if (type !== 'object') return schema.examples?.[0] ?? (type === 'boolean' ? true : 1);
  return fillObject(schema, options);
}

function fillText({ format = 'text', maxLength, examples }: TextSchema, options: FillOptions) {
  const isFree = format === 'text' || options.fillsFormats;
  if (!isFree) return examples?.[0] ?? EXAMPLES[format] ?? 'x';
  return repeatTo(options.shape, Math.min(maxLength ?? Infinity, options.length));
}

const EXAMPLES: Readonly<Record<string, string>> = {
  uuid: '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d',
  'date-time': '2026-11-01T00:00:00Z',
  email: 'ann@example.com',
};

function fillObject({ properties, additionalProperties }: TextSchema, options: FillOptions) {
  if (properties !== undefined) {
    const entries = Object.entries(properties);
    return Object.fromEntries(entries.map(([name, each]) => [name, fill(each, options)]));
  }
  const member = typeof additionalProperties === 'object' ? additionalProperties : ANY_TEXT;
  return { [repeatTo(options.shape, 60)]: fill(member, options) };
}

const ANY_TEXT: TextSchema = { type: 'string', maxLength: 1_000 };
