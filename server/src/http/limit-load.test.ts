import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';

import { createMetrics } from '#server/metrics.ts';

import { eventually } from '../../test/eventually.ts';
import { openRawConnection } from '../../test/raw-http.ts';
import { addGzipJsonParser } from './json-parser.ts';
import { createShell, HTTP_LIMITS, type HttpLimits } from './shell.ts';

/** Creates a shell with a handler that waits until it is released, and one that responds at once. */
function setUp(t: TestContext, limits: Partial<HttpLimits> = {}) {
  const events: string[] = [];
  const note = (fields: object) => void ('event' in fields && events.push(String(fields.event)));
  const metrics = createMetrics({ version: 'test' });
  const { app, readLoadState } = createShell({
    publicUrl: 'http://localhost:8080',
    trustedProxies: ['127.0.0.0/8'],
    log: { error: () => {}, warn: note, info: note },
    metrics,
    state: () => 'ready',
    limits: { ...HTTP_LIMITS, sweepIntervalMs: 20, ...limits },
  });
  const held = Promise.withResolvers<void>();
  const started = { count: 0 };
  app.post('/slow', async () => {
    started.count++;
    await held.promise;
    return 'done';
  });
  app.post('/quick', async () => 'done');
  app.get('/api/v1/health/live', async () => 'alive');
  t.after(() => {
    held.resolve();
    return app.close();
  });
  const post = (bytes: number, network: string, url = '/quick') =>
    app.inject({
      method: 'POST',
      url,
      headers: { 'x-forwarded-for': network },
      payload: { text: 'a'.repeat(bytes) },
    });
  const listen = () => app.listen({ host: '127.0.0.1', port: 0 });
  return { app, events, held, listen, metrics, post, readLoadState, started };
}

/** Returns the start of a request: its head and that many bytes of its body. */
function beginPost(path: string, announced: number, sent: number, network = '192.0.2.1'): string {
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${network}\r\ncontent-length: ${announced}`;
  return `${head}\r\n\r\n${' '.repeat(sent)}`;
}

test('keeps the memory of a request whose client disconnected until its handler has ended', async (t) => {
  const { app, held, listen, post, started } = setUp(t, { usualBytes: 140_000 });
  const url = await listen();
  const connection = await openRawConnection(url);
  const body = JSON.stringify({ text: 'a'.repeat(50_000) });
  connection.send(beginPost('/slow', body.length, 0, '127.0.0.1') + body);
  await eventually(() => started.count === 1);
  const refused = await post(20_000, '127.0.0.1');
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '1']);
  assert.equal(refused.json<{ code: string }>().code, 'overloaded');
  assert.equal((await post(5_000, '127.0.0.1')).statusCode, 200);
  assert.equal((await app.inject('/api/v1/health/live')).statusCode, 200);

  connection[Symbol.dispose]();
  await eventually(async () => (await countConnections(app.server)) === 0);
  assert.equal((await post(20_000, '127.0.0.1')).statusCode, 503, 'its handler still runs');
  held.resolve();
  await eventually(async () => (await post(50_000, '127.0.0.1')).statusCode === 200);
  for (let times = 0; times < 10; times++) {
    assert.equal((await post(50_000, '127.0.0.1')).statusCode, 200);
  }
});

function countConnections(server: {
  getConnections(report: (error: Error | null, count: number) => void): unknown;
}): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

test('reserves memory for an inflated body', async (t) => {
  const { app, held, started } = setUp(t, { usualBytes: 140_000, largeBytes: 600_000 });
  app.register(async (scope) => {
    addGzipJsonParser(scope, 1_000_000);
    scope.post('/inflated', async () => {
      if (started.count++ === 0) await held.promise;
      return 'done';
    });
  });
  const payload = gzipSync(JSON.stringify({ text: 'a'.repeat(200_000) }));
  assert.ok(payload.length < 1_000);
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const ask = () => app.inject({ method: 'POST', url: '/inflated', headers, payload });

  const first = ask();
  await eventually(() => started.count === 1);
  const refused = await ask();
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '1']);
  held.resolve();
  assert.equal((await first).statusCode, 200);
  for (let times = 0; times < 5; times++) assert.equal((await ask()).statusCode, 200);
});

test('closes an instance only after the handlers of disconnected clients have ended', async (t) => {
  const { app, held, listen, started } = setUp(t);
  const connection = await openRawConnection(await listen());
  connection.send(beginPost('/slow', 0, 0));
  await eventually(() => started.count === 1);
  connection[Symbol.dispose]();
  await eventually(async () => (await countConnections(app.server)) === 0);
  let closed = false;
  const closing = app.close().then(() => (closed = true));
  await eventually(() => !app.server.listening);
  await new Promise(setImmediate);
  assert.equal(closed, false);
  held.resolve();
  await closing;
});

test('reserves no memory for a body that is announced and does not arrive', async (t) => {
  const { listen, post } = setUp(t, { usualBytes: 300_000, sweepIntervalMs: 60_000 });
  const url = await listen();
  using connections = new DisposableStack();
  for (let count = 0; count < 20; count++) {
    connections
      .use(await openRawConnection(url))
      .send(beginPost('/quick', 60_000, 1, `192.0.2.${count}`));
  }
  assert.equal((await post(30_000, '198.51.100.1')).statusCode, 200);
});

test('one client network cannot use the memory of the others', async (t) => {
  const { app, events, listen, metrics, post, readLoadState } = setUp(t, {
    usualBytes: 1_000_000,
    sweepIntervalMs: 60_000,
  });
  const url = await listen();
  using connections = new DisposableStack();
  for (let count = 0; count < 20; count++) {
    connections.use(await openRawConnection(url)).send(beginPost('/quick', 60_000, 59_999));
  }
  await eventually(async () => (await metrics.render()).includes('limit="network_memory"} 1'));
  assert.equal((await post(60_000, '192.0.2.1')).statusCode, 503);
  assert.equal((await post(60_000, '192.0.2.2')).statusCode, 200);
  assert.equal((await app.inject('/api/v1/health/live')).statusCode, 200);
  assert.deepEqual(events, ['http.network_share_exceeded_started']);
  assert.equal(readLoadState(), 'normal');
});

test('drops bodies that make no progress with 408, and logs once that it does', async (t) => {
  const { events, listen } = setUp(t);
  const url = await listen();
  using connections = new DisposableStack();
  const stalled = await Promise.all(
    [0, 1, 1_000].map(async (sent) => {
      const connection = connections.use(await openRawConnection(url));
      connection.send(beginPost('/quick', 60_000, sent));
      return connection.waitForClose();
    }),
  );
  for (const answer of stalled) {
    assert.match(answer, /^HTTP\/1\.1 408 /u);
    assert.match(answer, /^connection: close\r$/imu);
    assert.match(answer, /"code":"request_timeout"\}$/u);
  }
  await eventually(() => events.length === 2);
  assert.deepEqual(events, ['http.stalled_bodies_started', 'http.stalled_bodies_ended']);
});

test('reads a body that arrives slowly', async (t) => {
  const { listen } = setUp(t);
  const url = await listen();
  using connection = await openRawConnection(url);
  const body = JSON.stringify({ text: 'a'.repeat(60_000) });
  connection.send(beginPost('/quick', body.length, 0));
  // At twice the required rate, for twice the time that a body may stall.
  for (let sent = 0; sent < body.length; sent += 6_000) {
    connection.send(body.slice(sent, sent + 6_000));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.match(await connection.waitForAnswers(1), /^HTTP\/1\.1 200 /u);
});

test('requests for probes are exempt from the limit, unless they have a body', async (t) => {
  const { app, held, post, started } = setUp(t, { usualBytes: 80_000, sweepIntervalMs: 60_000 });
  const network = '192.0.2.1';
  const holding = post(35_000, network, '/slow');
  await eventually(() => started.count === 1);
  assert.equal((await post(0, network)).statusCode, 503);
  for (const url of ['/api/v1/health/live', '/metrics']) {
    assert.equal((await post(100, network, url)).statusCode, 503, url);
    const headers = { 'x-forwarded-for': network };
    assert.notEqual((await app.inject({ url, headers })).statusCode, 503, url);
  }
  held.resolve();
  assert.equal((await holding).statusCode, 200);
});
