import assert from 'node:assert/strict';
import { request as sendRequest, Agent, type OutgoingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';

import { namedSchemas, nameOf } from '@latchkey/contract';
import * as fc from 'fast-check';
import type { TSchema } from 'typebox';

import { assertConforms } from '../conformance.ts';
import { createExternalHome, type ExternalHome } from '../external-service.ts';
import { anyAddress, createHttpClient } from '../http-client.ts';
import { activate } from '../license-steps.ts';
import { valuesOf, type RequestSchema } from '../schema-values.ts';
import { issueKeys, type ServiceProcess } from '../service-process.ts';

/** Random inputs of each property; a failure prints the seed. */
const REQUESTS = 700;
const OUTREACH_KEY = 'a key of the configuration';

let external: ExternalHome;
let service: ServiceProcess;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
/** Valid bodies, by path. */
let bodies: readonly (readonly [string, Record<string, unknown>])[] = [];

before(async () => {
  external = await createExternalHome();
  service = await external.start({
    LATCHKEY_BILLING_SECRETS: 'a secret that no input contains',
    LATCHKEY_OUTREACH_API_KEY: OUTREACH_KEY,
  });
  const order = { count: 1, maxActivations: 1_000 };
  const [licenseKey = ''] = await issueKeys(external.home, order, external.settings);
  bodies = await createBodies(licenseKey);
});

after(async () => {
  agent.destroy();
  await external[Symbol.asyncDispose]();
});

async function createBodies(licenseKey: string): Promise<typeof bodies> {
  const fingerprint = { machine_id: 'machine-1', cpu_id: 'c', hostname: 'h', macs: ['a', 'b'] };
  const { activation_id: activationId } = await activate(
    createHttpClient(service.url),
    licenseKey,
    fingerprint,
  );
  const id = '018f3a52-9a1b-7c3d-8e4f-5a6b7c8d9e0f';
  const credentials = {
    license_key: licenseKey,
    activation_id: activationId,
    machine_id: 'machine-1',
  };
  const event = { event_id: id, name: 'started', occurred_at: '2026-01-01T00:00:00Z', props: {} };
  return [
    [
      '/api/v1/licenses/activate',
      { license_key: licenseKey, machine_fingerprint: fingerprint, install_id: id },
    ],
    [
      '/api/v1/licenses/validate',
      { ...credentials, install_id: id, usage_sharing: true, trigger: 'startup' },
    ],
    ['/api/v1/licenses/deactivate', credentials],
    ['/api/v1/trial/start', { machine_fingerprint: fingerprint, install_id: id }],
    ['/api/v1/usage/heartbeat', { machine_id: 'machine-1', machine_fingerprint: fingerprint }],
    ['/api/v1/subscribers', { email: 'ann@example.com' }],
    ['/api/v1/events', { install_id: id, session_id: id, app_version: '1', events: [event] }],
    [
      '/api/v1/outreach/send',
      { template: 'personal', language: 'en', recipients: [{ email: 'ann@example.com' }] },
    ],
    ['/api/v1/webhooks/billing', { event_id: 'evt_1', event_type: 'transaction.completed' }],
  ];
}

interface FuzzedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Uint8Array;
}

/** Sends one request; asserts that the answer conforms to the interface and is not a 5xx. */
async function sendAndAssertConforms({
  method,
  path,
  headers,
  body,
}: FuzzedRequest): Promise<number> {
  const { status, headers: answerHeaders, content } = await exchange(method, path, headers, body);
  assert.ok(status < 500, `${status} ${content}`);
  const isOperation = method === 'POST' || method === 'GET';
  if (!isOperation) return status;
  const isJson = /json/u.test(answerHeaders.get('content-type') ?? '');
  const answer = { status, headers: answerHeaders, body: isJson ? JSON.parse(content) : content };
  assertConforms(method, service.url + path, answer);
  return status;
}

function exchange(
  method: string,
  path: string,
  headers: OutgoingHttpHeaders,
  body: string | Uint8Array,
): Promise<{ status: number; headers: Headers; content: string }> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body);
    const all = { 'x-forwarded-for': anyAddress(), ...headers, 'content-length': length };
    const request = sendRequest({ hostname, port, method, path, headers: all, agent });
    request.once('error', reject).once('response', (response) => {
      const pairs = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
      );
      const status = response.statusCode ?? 0;
      const answer = (content: string) => ({ status, headers: new Headers(pairs), content });
      text(response).then(answer).then(resolve, reject);
    });
    request.end(body);
  });
}

function checkProperty(
  requests: fc.Arbitrary<FuzzedRequest>,
  isRight: (status: number) => boolean = () => true,
): Promise<void> {
  const property = fc.asyncProperty(requests, async (request) => {
    const status = await sendAndAssertConforms(request);
    assert.ok(isRight(status), `answered with ${status}`);
  });
  return fc.assert(property, {
    numRuns: REQUESTS,
    endOnFailure: true,
  });
}

/** Asserts that the service logged no error. */
function assertNoErrorLogged(): void {
  assert.deepEqual(
    service.lines.filter((line) => /"level":"(?:error|fatal)"/u.test(line)),
    [],
  );
}

const deep = fc
  .tuple(fc.constantFrom('[', '{"a":'), fc.integer({ min: 1, max: 9_000 }))
  .map(([open, depth]) => open.repeat(depth) + (open === '[' ? ']' : '1}').repeat(depth));

const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\ud800',
    '\u{1f469}\u200d\u{1f4bb}',
    '\u202e',
    'é'.normalize('NFD'),
  ),
  fc.constantFrom("'; drop table licenses --", '%00', '../../etc/passwd', '{}', 'null', 'NaN'),
  fc.nat(70_000).map((length) => 'x'.repeat(length)),
);

const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom(null, true, -0, 1e308, -1e-320, 2 ** 53, [], {}, [[]], { __proto__: null }),
  fc.bigInt().map((value) => value.toString()),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.uuid().map((id) => id.toUpperCase()),
);

/** A valid body with a field replaced, removed or added, or with a part of its text replaced. */
const mutatedBody = fc
  .record({
    index: fc.nat(),
    field: fc.nat(),
    value: oddValue,
    extra: fc.option(fc.tuple(oddText, oddValue)),
    kind: fc.constantFrom('replace', 'remove', 'nest', 'splice', 'huge number'),
    splice: fc.tuple(fc.nat(), fc.nat(10), oddText),
  })
  .map(({ index, field, value, extra, kind, splice: [at, length, piece] }): FuzzedRequest => {
    const [path, right] = bodies[index % bodies.length] ?? ['/', {}];
    const body = structuredClone(right);
    const names = Object.keys(body);
    const name = names[field % names.length] ?? '';
    if (kind === 'replace') body[name] = value;
    if (kind === 'remove') delete body[name];
    if (kind === 'nest') body['machine_fingerprint'] = { machine_id: value, cpu_id: [value] };
    if (extra !== null) body[extra[0]] = extra[1];
    let json = JSON.stringify(body);
    if (kind === 'huge number') json = json.replace(/"machine-1"/u, '1e400');
    if (kind === 'splice') {
      const start = at % json.length;
      json = json.slice(0, start) + piece + json.slice(start + length);
    }
    return { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: json };
  });

test('answers mutated bodies without an internal error', async () => {
  await checkProperty(mutatedBody);
  assertNoErrorLogged();
});

const requestSchemas = new Map<string, TSchema>();
for (const schema of namedSchemas) requestSchemas.set(`${nameOf(schema)}#`, schema);

function resolveSchema(ref: string): RequestSchema {
  const schema = requestSchemas.get(ref);
  if (schema === undefined) throw new RangeError(`there is no schema ${ref}`);
  return schema;
}

/** A body for each operation, generated from its schema. */
const fittingBody = fc.oneof(
  ...Object.entries({
    '/api/v1/licenses/activate': 'LicenseActivate#',
    '/api/v1/licenses/validate': 'LicenseValidate#',
    '/api/v1/licenses/deactivate': 'LicenseDeactivate#',
    '/api/v1/trial/start': 'TrialStartRequest#',
    '/api/v1/usage/heartbeat': 'HeartbeatRequest#',
    '/api/v1/subscribers': 'SubscriberCreate#',
    '/api/v1/outreach/send': 'OutreachRequest#',
    '/api/v1/events': 'EventBatch#',
  }).map(([path, $ref]) =>
    valuesOf({ $ref }, resolveSchema).map((body): FuzzedRequest => {
      const headers = { 'content-type': 'application/json', 'x-api-key': OUTREACH_KEY };
      return { method: 'POST', path, headers, body: JSON.stringify(body) };
    }),
  ),
);

test('never answers 422 to a body that matches its schema', async () => {
  await checkProperty(fittingBody, (status) => status !== 422);
  assertNoErrorLogged();
});

const operationPath = fc.nat().map((index) => bodies[index % bodies.length]?.[0] ?? '/');

const anyPath = fc.oneof(
  operationPath,
  fc.webPath().map((path) => (path === '' ? '/' : path)),
  fc
    .tuple(fc.constantFrom('', 'check/'), oddText, fc.constantFrom('', '/activations'))
    .map(([check, part, end]) => {
      const encoded = encodeURIComponent(part.toWellFormed().slice(0, 300));
      return `/api/v1/licenses/${check}${encoded}${end}`;
    }),
  fc.constantFrom(
    '/%',
    '/%zz',
    '//',
    '/.well-known/jwks.json?x=%',
    '/docs/../..',
    '/api/v1/health',
  ),
);

const headerText = fc.string({
  unit: fc.constantFrom(...Array.from('aZ09 .,;:=/*"-_%{}[]()<>@éÿ\t')),
  maxLength: 80,
});

const anyHeaders = fc.dictionary(
  fc.constantFrom(
    'accept',
    'accept-version',
    'authorization',
    'billing-signature',
    'content-encoding',
    'content-type',
    'cookie',
    'if-none-match',
    'origin',
    'range',
    'x-api-key',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-request-id',
  ),
  headerText,
);

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];

const anyRequest = fc.record({
  method: fc.constantFrom(...methods),
  path: anyPath,
  headers: anyHeaders,
  body: fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json(),
    deep,
    // Within the limit, because 413 precedes 404.
    oddText.map((value) => JSON.stringify(value).slice(0, 60_000)),
    fc.constant(''),
  ),
});

test('answers any method, path, header and bytes without an internal error', async () => {
  await checkProperty(anyRequest);
  assertNoErrorLogged();
});
