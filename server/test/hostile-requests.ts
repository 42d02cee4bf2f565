/** Requests with the longest admissible texts of the worst shapes, for every operation of the interface document. */
import { readFileSync } from 'node:fs';

import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/value';

import { fill, repeatTo, type Shape, type TextSchema } from './hostile-texts.ts';

export interface HostileRequest {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
}

const Schema = Type.Unsafe<TextSchema>(Type.Object({}));
const Parameter = Type.Object({
  in: Type.Enum(['query', 'path', 'header']),
  name: Type.String(),
  schema: Schema,
});
const Operation = Type.Object({
  parameters: Type.Optional(Type.Array(Parameter)),
  requestBody: Type.Optional(
    Type.Object({
      content: Type.Object({ 'application/json': Type.Object({ schema: Schema }) }),
    }),
  ),
});
const Document = Type.Object({
  paths: Type.Record(Type.String(), Type.Record(Type.String(), Operation)),
  components: Type.Object({ schemas: Type.Record(Type.String(), Schema) }),
});

type Parameter = Static<typeof Parameter>;

/** An operation of the interface document. */
export interface DocumentedOperation extends Static<typeof Operation> {
  readonly method: string;
  readonly path: string;
}

const document = Parse(
  Document,
  JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')),
);

export const operations: readonly DocumentedOperation[] = Object.entries(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
);

/** Below the limits of a path parameter, of the header with the path, and of bodies. */
const PARAMETER_CHARACTERS = 190;
const QUERY_BYTES = 12_000;
const BODY_BYTES = 60_000;
const OUTREACH_BODY_BYTES = 500_000;

/**
 * Returns a request with this text in each of its texts.
 * @param fillsFormats whether also in addresses, ids and times, so that the validation refuses the request
 */
export function createRequest(
  operation: DocumentedOperation,
  shape: Shape,
  fillsFormats: boolean,
): HostileRequest {
  const { method, path, parameters = [], requestBody } = operation;
  const text = (schema: TextSchema, length: number) =>
    fill(schema, { shape, length, fillsFormats, resolve });
  const target = path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => {
    const { schema = {} } = parameters.find((each) => each.name === name) ?? {};
    return encodeURIComponent(String(text(schema, PARAMETER_CHARACTERS)));
  });
  const query = createQuery(
    parameters.filter((each) => each.in === 'query'),
    text,
  );
  const content = requestBody?.content['application/json'].schema;
  const maxBytes = path.includes('/outreach') ? OUTREACH_BODY_BYTES : BODY_BYTES;
  return {
    name: `${method} ${path} with ${JSON.stringify(shape)}${fillsFormats ? ' everywhere' : ''}`,
    method,
    path: target + query,
    ...(content === undefined
      ? {}
      : {
          headers: { 'content-type': 'application/json' },
          body: fit(maxBytes, (length) => JSON.stringify(text(content, length))),
        }),
  };
}

function createQuery(
  parameters: readonly Parameter[],
  text: (schema: TextSchema, length: number) => unknown,
): string {
  if (parameters.length === 0) return '';
  return fit(QUERY_BYTES, (length) => {
    const query = new URLSearchParams();
    for (const { name, schema } of parameters) query.set(name, String(text(schema, length)));
    return `?${query.toString()}`;
  });
}

/** Returns the longest result below a limit, roughly. @param create receives the length of texts without a limit of their own */
function fit(maxBytes: number, create: (length: number) => string): string {
  for (let length = maxBytes; ; length = Math.floor(length / 1.5)) {
    const result = create(length);
    if (Buffer.byteLength(result) <= maxBytes || length < 10) return result;
  }
}

function resolve(reference: string): TextSchema {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  const schema = document.components.schemas[name];
  if (schema === undefined) throw new Error(`no schema ${name}`);
  return schema;
}

/** Replaces the texts of a value, except those of the named members. */
export function replaceTexts(value: unknown, text: string, kept: RegExp): unknown {
  if (typeof value === 'string') return text;
  if (Array.isArray(value)) return value.map((each) => replaceTexts(each, text, kept));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      kept.test(name) && typeof each === 'string' ? each : replaceTexts(each, text, kept),
    ]),
  );
}

/** Returns requests with this text in each of the headers that the service, or a library, parses. */
export function createHeaderRequests(path: string, shape: Shape): HostileRequest[] {
  const text = repeatTo(shape, HEADER_CHARACTERS).replaceAll('\n', '\t').replace('\u00E9', '~');
  return HEADERS.flatMap((header) =>
    STARTS.map((start) => ({
      name: `GET ${path} with ${header}: ${start}${JSON.stringify(shape)}`,
      method: 'GET',
      path,
      headers: { [header]: start + text },
    })),
  );
}

const HEADER_CHARACTERS = 14_000;

/** The beginning of a value after which a parser looks for something. */
const STARTS = ['x', 'for="['] as const;

const HEADERS = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'content-type',
  'cookie',
  'forwarded',
  'if-modified-since',
  'if-none-match',
  'origin',
  'range',
  'referer',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-api-key',
  'x-buyer-session',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-request-id',
] as const;
