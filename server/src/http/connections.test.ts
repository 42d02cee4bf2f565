import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { createMetrics } from '#server/metrics.ts';

import { eventually } from '../../test/eventually.ts';
import { openRawConnection } from '../../test/raw-http.ts';
import { connectionsOf, letClientsLeave } from './connections.ts';
import type { ServiceState } from './service-state.ts';
import { createShell, HTTP_LIMITS, type HttpLimits } from './shell.ts';

/** More than the buffers of both ends of a connection on this machine. */
const ANSWER = 'a'.repeat(32 * 1024 * 1024);

async function setUp(
  t: TestContext,
  limits: Partial<HttpLimits>,
  trustedProxies: readonly string[] = [],
) {
  const events: string[] = [];
  const note = (fields: object) => void ('event' in fields && events.push(String(fields.event)));
  const metrics = createMetrics({ version: 'test' });
  const life: { state: ServiceState } = { state: 'ready' };
  const { app } = createShell({
    publicUrl: 'http://localhost:8080',
    trustedProxies,
    log: { error: () => {}, warn: note, info: note },
    metrics,
    state: () => life.state,
    limits: { ...HTTP_LIMITS, sweepIntervalMs: 20, ...limits },
  });
  app.get('/large', () => ANSWER);
  app.get('/small', () => 'small');
  t.after(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const countLimited = async (limit: string) => {
    const [, count = '0'] =
      new RegExp(`limited_total\\{limit="${limit}"\\} (\\d+)`, 'u').exec(await metrics.render()) ??
      [];
    return Number(count);
  };
  return { app, connections: connectionsOf(app.server), countLimited, events, life, url };
}

/** Requests the large response on a new connection, of which nothing is read yet. */
async function requestLarge(t: TestContext, url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  socket.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n');
  return socket;
}

test('closes a connection whose client never reads the response', async (t) => {
  const { connections, countLimited, events, url } = await setUp(t, { writeStallMs: 200 });
  await requestLarge(t, url);
  await eventually(() => connections.size === 1);
  await eventually(() => connections.size === 0);
  assert.equal(await countLimited('write_progress'), 1);
  assert.equal(events[0], 'http.stalled_writes_started');
});

test('closes a connection whose client exceeds the deadline of a response', async (t) => {
  const { connections, countLimited, url } = await setUp(t, { writeDeadlineMs: 200 });
  await requestLarge(t, url);
  await eventually(() => connections.size === 1);
  await eventually(() => connections.size === 0);
  assert.equal(await countLimited('write_progress'), 1);
});

test('continues to write to a client that reads slowly, and keeps its connection open afterwards', async (t) => {
  const { connections, countLimited, url } = await setUp(t, { writeStallMs: 2_000 });
  const socket = await requestLarge(t, url);
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    socket.pause();
    setTimeout(() => socket.resume(), 5);
  });
  socket.resume();
  await eventually(() => received > ANSWER.length, { timeoutMs: 60_000 });
  const [kept] = connections;
  await eventually(() => kept?.timeout !== 2_000);
  socket.write('GET /small HTTP/1.1\r\nhost: x\r\n\r\n');
  const before = received;
  await eventually(() => received > before);
  assert.equal(connections.size, 1);
  assert.equal(await countLimited('write_progress'), 0);
});

test('one client network cannot take all connections', async (t) => {
  const { connections, countLimited, events, url } = await setUp(t, { maxConnections: 10 });
  using opened = new DisposableStack();
  for (let count = 0; count < 5; count++) opened.use(await openRawConnection(url));
  await eventually(() => connections.size === 5);
  using refused = await openRawConnection(url);
  await refused.waitForClose();
  assert.equal(await countLimited('network_connections'), 1);
  assert.equal(events[0], 'http.network_connections_exceeded_started');
  opened.dispose();
  await eventually(() => connections.size === 0);
  using served = await openRawConnection(url);
  served.send('GET /small HTTP/1.1\r\nhost: x\r\n\r\n');
  assert.match(await served.waitForAnswers(1), /^HTTP\/1\.1 200 /u);
});

test('the connections of a trusted proxy are bounded together only', async (t) => {
  const { connections, url } = await setUp(t, { maxConnections: 10 }, ['127.0.0.0/8']);
  using opened = new DisposableStack();
  for (let count = 0; count < 10; count++) opened.use(await openRawConnection(url));
  await eventually(() => connections.size === 10);
  using refused = await openRawConnection(url);
  await refused.waitForClose();
});

test('a retiring process answers a request that it reads late, and closes idle connections', async (t) => {
  const { app, connections, life, url } = await setUp(t, {});
  using busy = await openRawConnection(url);
  using idle = await openRawConnection(url);
  for (const connection of [busy, idle]) {
    connection.send('GET /small HTTP/1.1\r\nhost: x\r\n\r\n');
    await connection.waitForAnswers(1);
  }
  life.state = 'retiring';
  // Timers are the next to run.
  await setImmediate();
  const left = letClientsLeave(app, AbortSignal.timeout(30_000), 50);
  busy.send('GET /small HTTP/1.1\r\nhost: x\r\n\r\n');
  // The process does not run until the time of its clients is over.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  await left;
  life.state = 'draining';
  assert.match(await busy.waitForAnswers(2), /^(?:HTTP\/1\.1 200 [^]*){2}$/u);
  await idle.waitForClose();
  assert.equal(connections.size, 0);
});
