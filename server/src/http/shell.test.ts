import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { ref, SubscriberCreate } from '@latchkey/contract';
import type { InjectOptions } from 'fastify';
import { fromDatabase } from '#server/db/database-errors.ts';
import { rateLimited } from '#server/errors.ts';
import { createMetrics } from '#server/metrics.ts';
import type { App } from './app-instance.ts';
import type { ServiceState } from './service-state.ts';
import { type ShellOptions, createShell } from './shell.ts';

const NO_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const unreachable = Object.assign(new Error('connect ENOENT'), { code: 'ENOENT' });

const silentLog = { error: () => {}, warn: () => {}, info: () => {} };

/** A shell with a few routes that show what it does. */
function setUp(t: TestContext, overrides: Partial<ShellOptions> = {}): App {
  const { app } = createShell({
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    log: silentLog,
    metrics: createMetrics({ version: 'test' }),
    state: () => 'ready',
    ...overrides,
  });
  app.get('/address', (request) => ({ network: request.clientNetwork }));
  app.get('/things/:id', (request) => request.params);
  app.get('/rest/*', () => 'the rest');
  app.post('/things', { schema: { body: ref(SubscriberCreate) } }, (request) => request.body);
  app.get('/broken', () => {
    throw new Error('password authentication failed for user "latchkey"');
  });
  app.get('/missing-file', () => readFile('/nowhere/at/all'));
  app.get('/away', () => fromDatabase(Promise.reject(unreachable)));
  app.get('/limited', () => {
    throw rateLimited(2.2, { ratelimit: '"default";r=0;t=3' });
  });
  app.get('/api/v1/health/live', () => ({ status: 'alive' }));
  t.after(() => app.close());
  return app;
}

/** Returns status and code of a refusal, and whether it is a problem. */
async function problemOf(
  app: App,
  request: InjectOptions | string,
): Promise<{ status: number; code: unknown; allow: unknown }> {
  const response = await app.inject(request);
  assert.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8');
  assert.ok(response.headers['x-request-id']);
  assert.equal(response.headers['x-content-type-options'], 'nosniff');
  const body = response.json<Record<string, unknown>>();
  assert.deepEqual(Object.keys(body).slice(0, 5), ['type', 'title', 'status', 'detail', 'code']);
  assert.equal(body['status'], response.statusCode);
  assert.equal(body['type'], `/docs/errors#${String(body['code'])}`);
  return { status: response.statusCode, code: body['code'], allow: response.headers.allow };
}

test('only errors of the database layer count as an outage of the database', async (t) => {
  const app = setUp(t);
  const statusAndCode = async (path: string) => {
    const { status, code } = await problemOf(app, path);
    return [status, code];
  };
  assert.deepEqual(await statusAndCode('/missing-file'), [500, 'internal_error']);
  assert.deepEqual(await statusAndCode('/away'), [503, 'database_unavailable']);
});

test('every response has its id and the security headers', async (t) => {
  const { headers } = await setUp(t).inject('/address');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.equal(headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'");
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['strict-transport-security'], undefined);
  assert.match(String(headers['x-request-id']), NO_ID);
});

test('sends Strict-Transport-Security when the public address is https', async (t) => {
  const app = setUp(t, { publicUrl: 'https://license.example.com' });
  const { headers } = await app.inject('/address');
  assert.equal(headers['strict-transport-security'], 'max-age=31536000');
});

test("keeps a caller's valid request id, and replaces an invalid one", async (t) => {
  const app = setUp(t);
  const idFor = async (id: string) => {
    const response = await app.inject({ url: '/nowhere', headers: { 'x-request-id': id } });
    return response.headers['x-request-id'];
  };
  assert.equal(await idFor('Trace_7.a-b'), 'Trace_7.a-b');
  assert.equal(await idFor('a'.repeat(128)), 'a'.repeat(128));
  for (const id of ['a'.repeat(129), 'a b', 'ä', '{"a":1}', '']) {
    assert.match(String(await idFor(id)), NO_ID);
  }
});

test('an unknown path is 404 for any request', async (t) => {
  const app = setUp(t);
  const notFound = { status: 404, code: 'not_found', allow: undefined };
  assert.deepEqual(await problemOf(app, '/nowhere'), notFound);
  assert.deepEqual(await problemOf(app, '/things/a/b'), notFound);
  const broken = {
    method: 'POST',
    url: '/nowhere',
    headers: { 'content-type': 'application/json' },
    payload: '{',
  } as const;
  assert.deepEqual(await problemOf(app, broken), notFound);
  const typeless = { ...broken, headers: { 'content-type': ':' } };
  assert.deepEqual(await problemOf(app, typeless), notFound);
  assert.match(
    await exchange(app, 'QUERY /nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
    /^HTTP\/1\.1 404 /u,
  );
});

test('an unknown method of a path is 405 with Allow', async (t) => {
  const app = setUp(t);
  for (const method of ['DELETE', 'PUT', 'PATCH', 'GET', 'HEAD'] as const) {
    const response = await app.inject({ method, url: '/things?x=1' });
    assert.equal(response.statusCode, 405);
    assert.equal(response.headers.allow, 'OPTIONS, POST');
  }
  assert.deepEqual(await problemOf(app, { method: 'POST', url: '/things/1' }), {
    status: 405,
    code: 'method_not_allowed',
    allow: 'OPTIONS, GET, HEAD',
  });
  const options = await app.inject({ method: 'OPTIONS', url: '/things' });
  assert.equal(options.statusCode, 204);
  assert.equal(options.headers.allow, 'OPTIONS, POST');
  assert.equal((await app.inject({ method: 'HEAD', url: '/things/1' })).statusCode, 200);
  for (const url of ['/rest/of', '/rest/of/path', '/rest/']) {
    assert.deepEqual(await problemOf(app, { method: 'POST', url }), {
      status: 405,
      code: 'method_not_allowed',
      allow: 'OPTIONS, GET, HEAD',
    });
  }
});

test('allows pages of any origin requests without credentials', async (t) => {
  const app = setUp(t);
  const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
  const preflight = await app.inject({ method: 'OPTIONS', url: '/things', headers });
  assert.equal(preflight.statusCode, 204);
  assert.equal(preflight.headers['access-control-allow-origin'], '*');
  assert.equal(preflight.headers['access-control-allow-methods'], 'OPTIONS, POST');
  const allowed = 'Content-Type, Content-Encoding, X-Buyer-Session, X-Request-Id';
  assert.equal(preflight.headers['access-control-allow-headers'], allowed);
  assert.equal(preflight.headers['access-control-allow-credentials'], undefined);
  const answer = await app.inject({
    url: '/things/1',
    headers: { origin: 'https://shop.example' },
  });
  assert.equal(answer.headers['access-control-allow-origin'], '*');
  const direct = await app.inject({ url: '/things/1' });
  assert.equal(direct.headers['access-control-allow-origin'], undefined);
});

test('accepts path parameters of up to 200 characters', async (t) => {
  const app = setUp(t);
  const longest = 'k'.repeat(200);
  assert.deepEqual((await app.inject(`/things/${longest}`)).json(), { id: longest });
  const { status, code } = await problemOf(app, `/things/${longest}k`);
  assert.deepEqual([status, code], [414, 'uri_too_long']);
});

test('a malformed percent-encoding is 400', async (t) => {
  const { status, code } = await problemOf(setUp(t), '/things/%zz');
  assert.deepEqual([status, code], [400, 'bad_request']);
});

test('parses JSON with its type or without one, and rejects other types with 415', async (t) => {
  const app = setUp(t);
  const payload = Buffer.from('{"email":"ada@example.com"}');
  const post = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/things', headers, payload });
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/vnd.api+json',
  ]) {
    assert.equal((await post({ 'content-type': type })).statusCode, 200, type);
  }
  assert.equal((await post({})).statusCode, 200);
  for (const type of ['text/plain', 'text/json', 'application/jsonx', 'multipart/form-data', 'x']) {
    const response = await post({ 'content-type': type });
    assert.equal(response.statusCode, 415, type);
    assert.equal(response.json<{ code: string }>().code, 'unsupported_media_type');
  }
});

test('rejects a content encoding with 415, and accepts identity', async (t) => {
  const app = setUp(t);
  const payload = '{"email":"ada@example.com"}';
  const post = (encoding: string) =>
    app.inject({
      method: 'POST',
      url: '/things',
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      payload,
    });
  assert.equal((await post('gzip')).statusCode, 415);
  assert.equal((await post('identity')).statusCode, 200);
});

test('a body that is too long is 413 before its type is checked', async (t) => {
  const app = setUp(t);
  const post = (type: string, bytes: number) =>
    app.inject({
      method: 'POST',
      url: '/things',
      headers: { 'content-type': type },
      payload: JSON.stringify({ email: 'ada@example.com', x: 'x'.repeat(bytes) }),
    });
  assert.equal((await post('application/json', 65_000)).statusCode, 200);
  assert.equal((await post('application/json', 65_536)).statusCode, 413);
  assert.equal((await post('text/plain', 65_536)).statusCode, 413);
});

test('a body that is not JSON or not UTF-8 is 422', async (t) => {
  const app = setUp(t);
  const post = async (payload: string | Buffer) => {
    const headers = { 'content-type': 'application/json' };
    const response = await app.inject({ method: 'POST', url: '/things', headers, payload });
    assert.equal(response.statusCode, 422);
    return response.json<unknown>();
  };
  assert.deepEqual(await post('{"email": ada}'), {
    detail: [
      {
        loc: ['body'],
        msg: 'JSON decode error: Unexpected token \'a\', "{"email": ada}" is not valid JSON',
        type: 'json_invalid',
      },
    ],
  });
  assert.deepEqual(await post(Buffer.from('{"email":"\xe4"}', 'latin1')), {
    detail: [
      { loc: ['body'], msg: 'JSON decode error: The body is not UTF-8', type: 'json_invalid' },
    ],
  });
  const missing = { detail: [{ loc: ['body'], msg: 'Field required', type: 'missing' }] };
  assert.deepEqual(await post(''), missing);
  assert.deepEqual(await post('null'), missing);
  assert.deepEqual(await post('['.repeat(60_000)), {
    detail: [
      {
        loc: ['body'],
        msg: 'JSON decode error: Unexpected end of JSON input',
        type: 'json_invalid',
      },
    ],
  });
  assert.deepEqual(await post('{"a": \u0000}'), {
    detail: [
      {
        loc: ['body'],
        msg: 'JSON decode error: Unexpected token \'\uFFFD\', "{"a": \uFFFD}" is not valid JSON',
        type: 'json_invalid',
      },
    ],
  });
});

test('ignores a byte order mark before a body', async (t) => {
  const app = setUp(t);
  const post = (payload: string) =>
    app.inject({
      method: 'POST',
      url: '/things',
      headers: { 'content-type': 'application/json' },
      payload,
    });
  const taken = await post('\uFEFF{"email":"ada@example.com"}');
  assert.deepEqual([taken.statusCode, taken.json()], [200, { email: 'ada@example.com' }]);
  const broken = await post('\uFEFF{"email":}');
  assert.equal(broken.statusCode, 422);
  assert.match(broken.body, /"loc":\["body"\],"msg":"JSON decode error: Unexpected token/u);
});

test('logs an internal error with its id, and does not send it', async (t) => {
  const lines: object[] = [];
  const app = setUp(t, { log: { ...silentLog, error: (fields) => lines.push(fields) } });
  const response = await app.inject({ url: '/broken', headers: { 'x-request-id': 'r-1' } });
  assert.equal(response.statusCode, 500);
  assert.equal(response.json<{ code: string }>().code, 'internal_error');
  assert.doesNotMatch(response.body, /password/);
  assert.equal(lines.length, 1);
  assert.match(JSON.stringify(lines[0]), /"requestId":"r-1","code":"internal_error"/);
});

test('a refusal sends its headers, with whole seconds', async (t) => {
  const { headers, statusCode } = await setUp(t).inject('/limited');
  assert.deepEqual(
    [statusCode, headers['retry-after'], headers['ratelimit']],
    [429, '3', '"default";r=0;t=3'],
  );
});

test('while starting and draining, requests are 503 and probes are served', async (t) => {
  const life: { state: ServiceState } = { state: 'starting' };
  const app = setUp(t, { state: () => life.state });
  const refused = async () => {
    const response = await app.inject('/address');
    const { code } = response.json<{ code: string }>();
    return [
      response.statusCode,
      code,
      response.headers['retry-after'],
      response.headers.connection,
    ];
  };
  assert.deepEqual(await refused(), [503, 'starting', '1', 'keep-alive']);
  life.state = 'draining';
  assert.deepEqual(await refused(), [503, 'draining', '1', 'close']);
  const probe = await app.inject('/api/v1/health/live');
  assert.deepEqual([probe.statusCode, probe.headers.connection], [200, 'close']);
  life.state = 'ready';
  assert.equal((await app.inject('/address')).statusCode, 200);
});

test('the client network is that of the socket, or is reported by a trusted proxy', async (t) => {
  const headers = { 'x-forwarded-for': '203.0.113.7, 198.51.100.1' };
  const networkFor = async (trustedProxies: readonly string[]) => {
    const response = await setUp(t, { trustedProxies }).inject({ url: '/address', headers });
    return response.json<{ network: string }>().network;
  };
  assert.equal(await networkFor([]), '127.0.0.1');
  assert.equal(await networkFor(['10.0.0.0/8']), '127.0.0.1');
  assert.equal(await networkFor(['127.0.0.0/8']), '198.51.100.1');
  assert.equal(await networkFor(['127.0.0.1']), '198.51.100.1');
  assert.equal(await networkFor(['127.0.0.0/8', '198.51.100.0/24']), '203.0.113.7');
});

test('the client network is the same whatever port or text a proxy adds', async (t) => {
  const app = setUp(t, { trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] });
  const networkFor = async (forwardedFor: string) => {
    const headers = { 'x-forwarded-for': forwardedFor };
    return (await app.inject({ url: '/address', headers })).json<{ network: string }>().network;
  };
  for (const entry of ['203.0.113.7', '203.0.113.7:4711', '203.0.113.7:80, 10.0.0.1:443']) {
    assert.equal(await networkFor(entry), '203.0.113.7', entry);
  }
  for (const entry of ['2001:db8:1:2::7', '[2001:db8:1:2::7]:4711', '[2001:db8:1:2:3::]']) {
    assert.equal(await networkFor(entry), '2001:db8:1:2', entry);
  }
  for (const entry of ['guess-1', 'unknown', '203.0.113.7:port', '1.2.3.4.5', ' , ', '']) {
    assert.equal(await networkFor(entry), '127.0.0.1', entry);
  }
  assert.equal(await networkFor('203.0.113.7, guess-1, 10.0.0.1'), '10.0.0.1');
});

/** Sends raw bytes and reads until the service closes the connection. */
async function exchange(app: App, bytes: string): Promise<string> {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  const address = app.server.address();
  assert.ok(isAddressInfo(address));
  const socket = connect(address.port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
  socket.write(bytes);
  await once(socket, 'close');
  return answer;
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}

test('rejects a malformed HTTP request with a problem too', async (t) => {
  const app = setUp(t);
  const cases: readonly (readonly [string, number, string])[] = [
    ['NONSENSE\r\n\r\n', 400, 'bad_request'],
    ['GET / HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'bad_request'],
    ['GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\nconnection: close\r\n\r\n', 400, 'bad_request'],
    ['GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n', 400, 'bad_request'],
    [`GET / HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(17_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ];
  for (const [bytes, status, code] of cases) {
    const answer = await exchange(app, bytes);
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), answer.slice(0, 200));
    assert.match(answer, /content-type: application\/problem\+json/);
    assert.match(answer, /x-request-id: /);
    assert.match(answer, new RegExp(`"code":"${code}"`));
  }
});
