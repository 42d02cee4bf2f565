import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fastify } from 'fastify';
import { eventually } from '../../test/eventually.ts';
import { createLog } from '#server/log.ts';
import { createMetrics } from '#server/metrics.ts';
import { PublicError, invalidApiKey } from '#server/errors.ts';
import { addMetricsRoute, startMetricsListener } from './metrics-endpoint.ts';
import { observeRequests } from './observe-requests.ts';

/** Above the second from which a request is slow. */
const SLOW_MS = 1_100;

const KEY = 'a-key-of-some-length';

/** Creates a service with two routes, and records its log lines. */
function setUp(level: 'info' | 'debug') {
  const entries: Record<string, unknown>[] = [];
  const write = (line: string) => entries.push(JSON.parse(line));
  const metrics = createMetrics({ version: '1.2.3' });
  const app = fastify();
  observeRequests(app, { log: createLog({ level, destination: { write } }), metrics });
  app.setErrorHandler((error, _request, reply) =>
    error instanceof PublicError
      ? reply.code(error.status).headers(error.headers).send(error.detail)
      : reply.code(500).send(),
  );
  app.get('/api/v1/licenses/:license_key/activations', () => ({}));
  app.get('/answer/:status', (request, reply) =>
    reply.code(Number(request.url.split('/').at(-1))).send(),
  );
  app.get('/slow', () => setTimeout(SLOW_MS, {}));
  addMetricsRoute(app, metrics, async (presented) => {
    if (presented !== KEY) throw invalidApiKey();
  });
  const scrape = async () =>
    (await metrics.render())
      .split('\n')
      .filter((line) => line.startsWith('latchkey_http_request_duration_seconds_count'))
      .map((line) => line.slice('latchkey_http_request_duration_seconds_count'.length));
  return { app, entries, metrics, scrape };
}

test('measures requests by the pattern of their route, and unknown paths together', async () => {
  const { app, scrape } = setUp('info');
  await app.inject('/api/v1/licenses/LK-1/activations');
  await app.inject('/api/v1/licenses/LK-2/activations');
  await app.inject('/scan/1.php');
  await app.inject('/scan/2.php');
  assert.deepEqual(await scrape(), [
    '{route="/api/v1/licenses/:license_key/activations",method="GET",status="200"} 2',
    '{route="none",method="GET",status="404"} 2',
  ]);
});

test('logs ten slow requests of a network in a minute', async () => {
  const { app, entries } = setUp('info');
  await Promise.all(Array.from({ length: 25 }, () => app.inject('/slow')));
  const logged = entries.filter(({ event }) => event === 'request.completed');
  assert.equal(logged.length, 10);
  assert.ok(logged.every(({ status }) => status === 200));
});

test('logs refusals and failures at info, except 429 and 503', async () => {
  const { app, entries } = setUp('info');
  for (const status of [200, 204, 301, 400, 404, 429, 500, 503])
    await app.inject(`/answer/${status}`);
  assert.deepEqual(
    entries.map((entry) => [entry['level'], entry['status']]),
    [
      ['info', 400],
      ['info', 404],
      ['info', 500],
    ],
  );
});

test('logs requests to unknown paths at debug only, whatever their number', async () => {
  const { app, entries } = setUp('info');
  for (const method of ['GET', 'POST', 'DELETE'] as const)
    await app.inject({ method, url: '/scan/1.php' });
  await app.inject({ method: 'PUT', url: '/answer/200', payload: 'x' });
  assert.deepEqual(entries, []);

  const debugging = setUp('debug');
  await debugging.app.inject('/scan/1.php');
  assert.deepEqual(
    debugging.entries.map(({ level, status }) => [level, status]),
    [['debug', 404]],
  );
});

test('logs ten refusals of a client in a minute, the others at debug, and every failure', async () => {
  const { app, entries } = setUp('info');
  for (let count = 0; count < 40; count++) await app.inject('/answer/401');
  assert.deepEqual(
    entries.map(({ status }) => status),
    Array.from({ length: 10 }, () => 401),
  );
  for (let count = 0; count < 20; count++) await app.inject('/answer/500');
  assert.equal(entries.length, 30);

  const debugging = setUp('debug');
  for (let count = 0; count < 40; count++) await debugging.app.inject('/answer/422');
  assert.equal(debugging.entries.length, 40);
});

test('logs all requests at debug, with the pattern of their route', async () => {
  const { app, entries } = setUp('debug');
  await app.inject({ url: '/api/v1/licenses/our-own-format/activations?a=b' });
  const { time: _, durationMs, ...entry } = entries[0] ?? {};
  assert.equal(typeof durationMs, 'number');
  assert.deepEqual(entry, {
    level: 'debug',
    event: 'request.completed',
    requestId: 'req-1',
    method: 'GET',
    route: '/api/v1/licenses/:license_key/activations',
    status: 200,
    msg: 'request completed',
  });
});

test('logs nothing of a path, with and without a route', async () => {
  const { app, entries } = setUp('debug');
  const keys = ['MYOLDVENDORKEY123', 'LKJ04FZT2MYKNSCK291D7H2BF3N', 'LK%2DJ04FZ-T2MYK'];
  const paths = keys.flatMap((key) => [
    `/api/v1/licenses/${key}`,
    `/api/v1/licenses/${key}/activation`,
    `/api/v1/licenses/${key}/activations`,
    `/api/v1/licenses/${key}/activations/${key}`,
    `/api/v1/licenses/check/${key}`,
    `/${key}`,
  ]);
  for (const url of paths) {
    await app.inject({ url });
    await app.inject({ url, method: 'DELETE' });
  }
  assert.equal(entries.length, 2 * paths.length);
  const lines = JSON.stringify(entries);
  for (const key of keys) assert.ok(!lines.includes(key), key);
  assert.deepEqual(
    new Set(entries.map(({ route }) => route)),
    new Set(['none', '/api/v1/licenses/:license_key/activations']),
  );
});

test('logs that a request blocked the event loop, once, with the pattern of its route', async (t) => {
  const { app, entries, metrics } = setUp('info');
  app.post('/block/:id', () => {
    const until = performance.now() + 1_500;
    while (performance.now() < until);
    return {};
  });
  t.after(() => app.close());
  await app.inject({ method: 'POST', url: '/block/1' });
  // On a busy computer there may be other blocks.
  const blocks = () =>
    entries.filter(({ event, routes }) => {
      return event === 'http.event_loop_blocked' && String(routes) === '/block/:id';
    });
  await eventually(() => blocks().length > 0);
  assert.equal(blocks().length, 1);
  assert.equal(blocks()[0]?.['level'], 'warn');
  assert.ok(Number(blocks()[0]?.['durationMs']) > 1_000);
  const text = await metrics.render();
  const countUpTo = (bound: string): number =>
    Number(
      new RegExp(`^latchkey_event_loop_delay_seconds_bucket.le="${bound}". (\\d+)$`, 'mu').exec(
        text,
      )?.[1],
    );
  assert.ok(countUpTo('\\+Inf') > countUpTo('1'));
});

test('/metrics requires an API key in one of two headers', async () => {
  const { app } = setUp('info');
  for (const [headers, detail] of [
    [{}, /X-API-Key/u],
    [{ authorization: 'Bearer' }, /X-API-Key/u],
    [{ authorization: `Basic ${KEY}` }, /X-API-Key/u],
    [{ authorization: KEY }, /X-API-Key/u],
    [{ authorization: `Bearer ${KEY}x` }, /unknown/u],
    [{ 'x-api-key': '' }, /unknown/u],
    [{ 'x-api-key': 'another', authorization: `Bearer ${KEY}` }, /unknown/u],
  ] as const) {
    const refused = await app.inject({ url: '/metrics', headers });
    assert.deepEqual(
      [refused.statusCode, refused.headers['www-authenticate']],
      [401, 'Bearer'],
      JSON.stringify(headers),
    );
    assert.match(refused.body, detail);
  }
  for (const headers of [
    { authorization: `Bearer ${KEY}` },
    { authorization: `bearer   ${KEY}` },
    { 'x-api-key': KEY },
  ]) {
    const served = await app.inject({ url: '/metrics', headers });
    assert.equal(served.statusCode, 200);
    assert.equal(served.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal(served.headers['cache-control'], 'no-store');
    assert.match(served.body, /^latchkey_build_info\{version="1\.2\.3"/mu);
  }
});

test('the listener of its own serves /metrics and nothing else, until it is closed', async () => {
  const metrics = createMetrics({ version: '1.2.3' });
  const address = { host: '127.0.0.1', port: 0 };
  const listener = await startMetricsListener(metrics, address, { error: assert.fail });
  const base = `http://127.0.0.1:${listener.port}`;
  const served = await fetch(`${base}/metrics`);
  assert.equal(served.status, 200);
  assert.match(await served.text(), /^latchkey_build_info/mu);
  assert.equal((await fetch(`${base}/`)).status, 404);
  await listener.close();
  await assert.rejects(fetch(`${base}/metrics`));
});

test("responds with 500 on the metrics' port if rendering fails, and logs the error", async (t) => {
  const logged: unknown[] = [];
  const cause = new Error('a gauge broke');
  const broken = { render: () => Promise.reject(cause) };
  const log = { error: (fields: object, message: string) => logged.push([fields, message]) };
  const listener = await startMetricsListener(broken, { host: '127.0.0.1', port: 0 }, log);
  t.after(() => listener.close());
  const { status } = await fetch(`http://127.0.0.1:${listener.port}/metrics`);
  assert.equal(status, 500);
  assert.deepEqual(logged, [
    [{ event: 'metrics.rendering_failed', err: cause }, 'could not render the metrics'],
  ]);
});
