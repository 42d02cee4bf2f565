import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fastify } from 'fastify';
import { createLog } from '#server/log.ts';
import { createMetrics } from '#server/metrics.ts';
import { PublicError } from '#server/errors.ts';
import { addMetricsRoute, startMetricsListener } from './metrics-endpoint.ts';
import { observeRequests } from './observe-requests.ts';

/** A service of two routes whose log lines are kept. */
function setUp(level: 'info' | 'debug', token: string | null = null) {
  const entries: Record<string, unknown>[] = [];
  const write = (line: string) => entries.push(JSON.parse(line));
  const metrics = createMetrics({ version: '1.2.3' });
  const app = fastify();
  observeRequests(app, { log: createLog({ level, destination: { write } }), metrics });
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof PublicError ? error.status : 500).send(),
  );
  app.get('/api/v1/licenses/:license_key/activations', () => ({}));
  app.get('/answer/:status', (request, reply) =>
    reply.code(Number(request.url.split('/').at(-1))).send(),
  );
  addMetricsRoute(app, metrics, token);
  const scrape = async () =>
    (await metrics.render())
      .split('\n')
      .filter((line) => line.startsWith('latchkey_http_request_duration_seconds_count'))
      .map((line) => line.slice('latchkey_http_request_duration_seconds_count'.length));
  return { app, entries, scrape };
}

test('requests are measured by the pattern of their route, unknown paths together', async () => {
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

test('at info, answers of 400 and more are logged, except 429', async () => {
  const { app, entries } = setUp('info');
  for (const status of [200, 204, 301, 400, 404, 429, 503]) await app.inject(`/answer/${status}`);
  assert.deepEqual(
    entries.map((entry) => [entry['level'], entry['status']]),
    [
      ['info', 400],
      ['info', 404],
      ['info', 503],
    ],
  );
});

test('at debug, all are logged, with the licence key masked', async () => {
  const { app, entries } = setUp('debug');
  await app.inject({ url: '/api/v1/licenses/our-own-format/activations?a=b' });
  const { time: _, durationMs, ...entry } = entries[0] ?? {};
  assert.equal(typeof durationMs, 'number');
  assert.deepEqual(entry, {
    level: 'debug',
    requestId: 'req-1',
    method: 'GET',
    path: '/api/v1/licenses/***/activations',
    status: 200,
    msg: 'request',
  });
});

test('/metrics is not there without a token, and shows itself to the token only', async () => {
  assert.equal((await setUp('info').app.inject('/metrics')).statusCode, 404);

  const token = 'a-token-of-some-length';
  const { app } = setUp('info', token);
  for (const authorization of [undefined, 'Bearer', `Bearer ${token}x`, `Basic ${token}`, token]) {
    const headers = authorization === undefined ? {} : { authorization };
    const refused = await app.inject({ url: '/metrics', headers });
    assert.equal(refused.statusCode, 401);
    assert.equal(refused.headers['www-authenticate'], 'Bearer');
  }
  const headers = { authorization: `Bearer ${token}` };
  const served = await app.inject({ url: '/metrics', headers });
  assert.equal(served.statusCode, 200);
  assert.equal(served.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  assert.match(served.body, /^latchkey_build_info\{version="1\.2\.3"/mu);
});

test('the listener of its own serves /metrics and nothing else, until it is closed', async () => {
  const metrics = createMetrics({ version: '1.2.3' });
  const listener = await startMetricsListener(metrics, { host: '127.0.0.1', port: 0 });
  const base = `http://127.0.0.1:${listener.port}`;
  const served = await fetch(`${base}/metrics`);
  assert.equal(served.status, 200);
  assert.match(await served.text(), /^latchkey_build_info/mu);
  assert.equal((await fetch(`${base}/`)).status, 404);
  await listener.close();
  await assert.rejects(fetch(`${base}/metrics`));
});
