import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { isUuid, parseDateTime } from '@latchkey/contract';
import { Format } from 'typebox/format';
import { Compile } from 'typebox/schema';

/** The checked parts of an answer. */
export interface CheckedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

type Json = Readonly<Record<string, unknown>>;

const document = readObject(
  JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')),
);
const components = readObject(document['components']);

Format.Set('uuid', isUuid);
Format.Set('date-time', (text) => text.endsWith('Z') && parseDateTime(text) !== undefined);

/** The most literal paths first, like the router: `/licenses/check/{id}` before `/licenses/{key}/activations`. */
const paths = Object.entries(readObject(document['paths'])).sort(
  ([one], [other]) => literalLength(other) - literalLength(one),
);
const operations = paths.map(([path, item]) => ({
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  item: readObject(item),
}));

const validators = new Map<unknown, ReturnType<typeof Compile>>();

/** Pages, the document itself, the metrics, and the interfaces of other systems, which are not operations of this one. */
const PATHS_WITHOUT_OPERATION = /^\/(?:docs|openapi\.json|metrics|u\/|s\/|v[12]\/|my(?:\/|$))/;

/** Paths for people, which also answer failures with a page. */
const PAGES_FOR_PEOPLE = /^\/(?:[us]\/|my(?:\/|$))/;

/** The interfaces of other systems, which answer failures in their words. */
const OTHER_INTERFACES = /^\/v[12]\//;

/** Pages with forms whose origin browsers must send, which they do not with `no-referrer`. */
const PAGES_FOR_BUYERS = /^\/my(?:\/|$)/;

/** Statuses that precede the look-up of an operation, or replace it. */
const STATUSES_WITHOUT_OPERATION = new Set([400, 404, 405, 414, 431]);

/** The paths of sandboxed documents that the console shows in a frame. */
const FRAMED_PATHS = /^\/api\/v1\/admin\/(?:outreach\/preview-frame|mail-templates\/[^/]+\/html)$/;

/**
 * Checks an answer against the interface document: the operation documents its status, content type and body, and it
 * has the headers of every answer.
 */
export function assertConforms(method: string, url: string, answer: CheckedAnswer): void {
  const { headers, status } = answer;
  assert.match(headers.get('x-request-id') ?? '', /^[A-Za-z0-9._-]{1,128}$/);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  const pathname = new URL(url).pathname;
  const referrer = PAGES_FOR_BUYERS.test(pathname) ? 'same-origin' : 'no-referrer';
  assert.equal(headers.get('referrer-policy'), referrer);
  const framing = FRAMED_PATHS.test(pathname) && status === 200 ? 'self' : 'none';
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, new RegExp(`frame-ancestors '${framing}'`));
  const schema = findSchema(method, new URL(url).pathname, answer);
  const type = headers.get('content-type') ?? '';
  const isPage = PAGES_FOR_PEOPLE.test(new URL(url).pathname) && type.startsWith('text/html');
  const isOwn = !isPage && !OTHER_INTERFACES.test(pathname);
  if (type.includes('problem') || (schema === null && status >= 400 && isOwn)) {
    assertIsProblem(answer);
  }
  if (schema === null) return;
  const faults = findFaults(schema, answer.body);
  assert.deepEqual(faults, [], `${method} ${url} ${status} does not fit its schema`);
}

function literalLength(path: string): number {
  return path.includes('{') ? path.indexOf('{') : path.length;
}

function findFaults(schema: unknown, body: unknown): string[] {
  const known = validators.get(schema);
  const validator = known ?? Compile({ ...readObject(schema), components });
  validators.set(schema, validator);
  // Listing the faults of a valid body takes many times as long as checking it.
  if (validator.Check(body)) return [];
  const [, errors] = validator.Errors(body);
  return errors.map((error) => `${error.instancePath}: ${error.message}`);
}

function findSchema(method: string, path: string, { status, headers }: CheckedAnswer): unknown {
  const found = operations.find(({ pattern }) => pattern.test(path));
  const operation = found?.item[method.toLowerCase()];
  const response =
    operation === undefined ? undefined : (readObject(operation)['responses'] ?? undefined);
  const documented = response === undefined ? undefined : readObject(response)[String(status)];
  if (documented === undefined) {
    const isKnown = STATUSES_WITHOUT_OPERATION.has(status) || PATHS_WITHOUT_OPERATION.test(path);
    assert.ok(isKnown, `${method} ${path} is not documented to answer ${status}`);
    return null;
  }
  const content = readObject(resolveResponse(documented)['content']);
  const type = headers.get('content-type')?.split(';', 1)[0] ?? '';
  const media = content[type];
  assert.ok(media, `${method} ${path} answered ${status} as ${type}`);
  return readObject(media)['schema'];
}

/** Returns a response, or the shared one that it refers to. */
function resolveResponse(response: unknown): Json {
  const { $ref: reference, ...own } = readObject(response);
  if (typeof reference !== 'string') return own;
  const name = reference.replace('#/components/responses/', '');
  return readObject(readObject(components['responses'])[name]);
}

/** Problem details (RFC 9457) with a code that always has this status. */
function assertIsProblem({ status, headers, body }: CheckedAnswer): void {
  assert.equal(headers.get('content-type'), 'application/problem+json; charset=utf-8');
  const problem = readObject(body);
  assert.deepEqual(Object.keys(problem).slice(0, 5), ['type', 'title', 'status', 'detail', 'code']);
  assert.equal(problem['status'], status);
  assert.equal(problem['type'], `/docs/errors#${String(problem['code'])}`);
}

function readObject(value: unknown): Json {
  assert.ok(typeof value === 'object' && value !== null, 'an object');
  return Object.fromEntries(Object.entries(value));
}
