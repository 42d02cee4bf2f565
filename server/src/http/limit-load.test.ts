import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { fastify } from 'fastify';
import { addErrorHandler } from './error-handler.ts';
import { addGzipJsonParser } from './json-parser.ts';
import { limitLoad } from './limit-load.ts';

test('bodies under way are bounded by their bytes, also those of clients who have gone away', async (t) => {
  const app = fastify();
  addErrorHandler(app, { error: () => {} });
  limitLoad(app, { usualBytes: 70_000, largeBytes: 0 });
  const release = Promise.withResolvers<void>();
  app.post('/slow', async () => {
    await release.promise;
    return 'done';
  });
  app.post('/quick', async () => 'done');
  app.get('/api/v1/health/live', async () => 'alive');
  t.after(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const ask = (bytes: number) =>
    app.inject({ method: 'POST', url: '/quick', payload: { text: 'a'.repeat(bytes) } });

  const socket = connect(address.port, '127.0.0.1');
  await once(socket, 'connect');
  const body = JSON.stringify({ text: 'a'.repeat(50_000) });
  socket.write(
    `POST /slow HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await sleep(100);
  const refused = await ask(20_000);
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '1']);
  assert.equal(refused.json<{ code: string }>().code, 'overloaded');
  assert.equal((await ask(5_000)).statusCode, 200);
  assert.equal((await app.inject('/api/v1/health/live')).statusCode, 200);

  socket.destroy();
  await sleep(100);
  assert.equal((await ask(20_000)).statusCode, 503, 'the work goes on without its client');
  release.resolve();
  await sleep(100);
  for (let times = 0; times < 10; times++) assert.equal((await ask(50_000)).statusCode, 200);
});

test('a compressed body weighs what it is once inflated', async (t) => {
  const app = fastify();
  addErrorHandler(app, { error: () => {} });
  limitLoad(app, { usualBytes: 70_000, largeBytes: 300_000 });
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  let works = 0;
  app.register(async (scope) => {
    addGzipJsonParser(scope, 1_000_000);
    scope.post('/first-slow', async () => {
      started.resolve();
      if (works++ === 0) await release.promise;
      return 'done';
    });
  });
  t.after(() => {
    release.resolve();
    return app.close();
  });
  const payload = gzipSync(JSON.stringify({ text: 'a'.repeat(200_000) }));
  assert.ok(payload.length < 1_000);
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const ask = () => app.inject({ method: 'POST', url: '/first-slow', headers, payload });

  const first = ask();
  await started.promise;
  const refused = await ask();
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '1']);
  release.resolve();
  assert.equal((await first).statusCode, 200);
  for (let times = 0; times < 5; times++) assert.equal((await ask()).statusCode, 200);
});

test('an instance is closed only when the work of clients who have gone away has ended', async () => {
  const app = fastify();
  limitLoad(app);
  const release = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  app.get('/slow', async () => {
    started.resolve();
    await release.promise;
    return 'done';
  });
  const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(url.port), '127.0.0.1');
  socket.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
  await started.promise;
  socket.destroy();
  let closed = false;
  const closing = app.close().then(() => (closed = true));
  await sleep(100);
  assert.equal(closed, false);
  release.resolve();
  await closing;
});
