import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { connect as connectTls, type TLSSocket } from 'node:tls';

import { lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import {
  sendRequest,
  connect,
  openStream,
  type Stream,
  TestClock,
} from '../../test/stream-harness.ts';
import { readTlsMaterial } from '../tls/tls-files.ts';
import { until } from '../../test/wait.ts';
import { AddressReports } from './limits.ts';

const UPGRADE =
  'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

describe('hostile clients', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const tls = readTlsMaterial({ ...fixture.createRoot('root').issueServer(), clients: null });

  test('closes a plain HTTP connection, and logs it once a minute', async () => {
    await using stream = await openStream({ tls });
    const knock = async (): Promise<void> => {
      const socket = connectPlain(stream.port, '127.0.0.1');
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await readToEnd(socket);
    };
    const problem =
      'stream.handshake_failed: it used plain HTTP; the address must begin with https:// or wss://';
    for (let time = 0; time < 5; time += 1) await knock();
    assert.deepEqual(stream.warnings, [problem]);
    stream.clock.ms += 60_000;
    await knock();
    assert.deepEqual(stream.warnings, [problem, problem]);
    await proveAlive(stream);
  });

  test('closes incomplete handshakes and silent connections after the timeout', async () => {
    // The valid connections of this test must finish within this time, even on a busy machine.
    await using stream = await openStream({ tls, handshakeMs: 2000 });
    const half = connectPlain({
      port: stream.port,
      host: '127.0.0.1',
      localAddress: '127.0.0.2',
    });
    half.write(Buffer.from('160301', 'hex'));
    const silent = await shakeHands(stream.port);
    const [toHalf] = await Promise.all([readToEnd(half), readToEnd(silent)]);
    assert.equal(toHalf, '');
    assert.deepEqual(stream.warnings.toSorted(), [
      'stream.handshake_failed: it timed out',
      'stream.request_refused: it is not HTTP, or timed out',
    ]);
    await proveAlive(stream);
  });

  test('logs aborted handshakes once for each address', async () => {
    const lines: unknown[] = [];
    const reports = new AddressReports(new TestClock(), {
      warn: (...line) => void lines.push(line),
    });
    await using stream = await openStream({ tls, reports });
    for (const localAddress of ['127.0.0.2', '127.0.0.3', '127.0.0.2']) {
      const socket = connectPlain({ port: stream.port, host: '127.0.0.1', localAddress });
      socket.write(Buffer.from('160301', 'hex'), () => socket.resetAndDestroy());
      await once(socket, 'close');
    }
    await until(() => lines.length === 2);
    const aborted = ['stream.handshake_failed', 'TLS handshake failed'];
    await proveAlive(stream);
    assert.deepEqual(lines, [
      [...aborted, { address: '127.0.0.2', reason: 'it was aborted' }],
      [...aborted, { address: '127.0.0.3', reason: 'it was aborted' }],
    ]);
  });

  test('closes connections that send garbage', async () => {
    await using stream = await openStream({ tls });
    const before = connectPlain(stream.port, '127.0.0.1');
    before.write(Buffer.alloc(100_000, 0xff));
    await readToEnd(before);
    const inside = await shakeHands(stream.port);
    inside.write(Buffer.alloc(1000, 0xff));
    assert.match(await readToEnd(inside), /^HTTP\/1\.1 400 /u);
    await proveAlive(stream);
  });

  test('rejects huge headers with 431', async () => {
    await using stream = await openStream({ tls });
    const socket = await shakeHands(stream.port);
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`);
    assert.match(await readToEnd(socket), /^HTTP\/1\.1 431 /u);
    assert.deepEqual(stream.warnings, ['stream.request_refused: its headers are too large']);
    await proveAlive(stream);
  });

  test('rejects invalid WebSocket requests with 400', async () => {
    await using stream = await openStream({ tls });
    for (const request of [
      UPGRADE.replace('13\r\n', '7\r\n'),
      UPGRADE.replace('AAAAAAAAAAAAAAAAAAAAAA==', 'short'),
      UPGRADE.replace('websocket', 'h2c'),
      `${UPGRADE}Sec-WebSocket-Protocol: ,latchkey.snapshot.v1 x\r\n`,
    ]) {
      const socket = await shakeHands(stream.port);
      socket.write(`${request}\r\n`);
      assert.match(await readToEnd(socket), /^HTTP\/1\.1 400 Bad Request\r\n/u, request);
    }
    await proveAlive(stream);
  });

  test('closes with the right code after messages that are too long, invalid or too many', async () => {
    const empty = Buffer.alloc(0);
    const start = maskedFrame(0x01, empty);
    const cases: readonly (readonly [Buffer, number, string])[] = [
      [maskedFrame(0x81, Buffer.alloc(2000, 'x')), 1009, 'Max payload size exceeded'],
      [
        Buffer.concat([start, ...repeat(20, maskedFrame(0, empty))]),
        1008,
        'Too many message fragments',
      ],
      [
        maskedFrame(0x81, Buffer.from([0xc0, 0xaf])),
        1007,
        'Invalid WebSocket frame: invalid UTF-8 sequence',
      ],
      [
        maskedFrame(0xc1, Buffer.from('compressed')),
        1002,
        'Invalid WebSocket frame: RSV1 must be clear',
      ],
      [Buffer.from([0x81, 0x01, 0x41]), 1002, 'Invalid WebSocket frame: MASK must be set'],
      [
        Buffer.concat(repeat(21, maskedFrame(0x81, Buffer.from('x')))),
        1008,
        'it sent too many messages',
      ],
      [Buffer.concat(repeat(10_000, maskedFrame(0x89, empty))), 1008, 'it sent too many messages'],
    ];
    const send = async ([bytes, code, why]: (typeof cases)[number]): Promise<void> => {
      await using stream = await openStream({ tls });
      const socket = await shakeHands(stream.port);
      socket.write(`${UPGRADE}\r\n`);
      await once(socket, 'data');
      socket.write(bytes);
      assert.equal(findCloseCode(await readToEnd(socket)), code);
      assert.deepEqual(stream.warnings, [`stream.viewer_dropped: ${why}`]);
      await proveAlive(stream);
      await stream.server.close();
      assert.equal(stream.hub.viewers.size, 0);
    };
    // At the same time, because the server gives each a second to close its connection.
    await Promise.all(cases.map(send));
  });

  test('disconnects a client that sends after a close or an invalid frame', async () => {
    await using stream = await openStream({ tls });
    const goOnAfter = async (last: Buffer): Promise<void> => {
      const socket = await shakeHands(stream.port, { allowHalfOpen: true });
      socket.write(`${UPGRADE}\r\n`);
      await once(socket, 'data');
      socket.write(last);
      const startedAtMs = performance.now();
      const talking = setInterval(() => socket.write(maskedFrame(0x81, Buffer.from('x'))), 50);
      await readToEnd(socket);
      clearInterval(talking);
      assert.ok(performance.now() - startedAtMs < 10_000);
    };
    const last = [maskedFrame(0x88, Buffer.alloc(0)), Buffer.from([0x81, 0x01, 0x41])];
    await Promise.all(last.map(goOnAfter));
    await proveAlive(stream);
  });

  test('ignores a few messages', async () => {
    await using stream = await openStream({ tls });
    const viewer = await connect(stream.port);
    for (let time = 0; time < 20; time += 1) viewer.socket.send('hello');
    const answered = once(viewer.socket, 'close').then(() => 'closed');
    viewer.socket.terminate();
    assert.equal(await answered, 'closed');
    const other = await connect(stream.port);
    other.socket.send('hello');
    stream.hub.tick();
    assert.equal((await other.receive(2)).length, 2);
    assert.deepEqual(stream.warnings, []);
  });

  test('drops a viewer that does not read, at a cost below 2 MB', async () => {
    await using stream = await openStream({ tls });
    const reading = await connect(stream.port);
    const stuck = await connect(stream.port);
    stuck.socket.pause();
    stream.sampler.extra = { units: { failed: ['x'.repeat(20_000)] } };
    let heldBefore = 0;
    let heldMost = 0;
    let ticks = 0;
    while (stream.hub.viewers.size === 2 && ticks < 5000) {
      stream.hub.tick();
      ticks += 1;
      await reading.receive(1 + ticks);
      reading.messages.fill('');
      // The first ones fill caches that stay. Collecting garbage at every tick would take most of the time.
      if (ticks === 20) heldBefore = await measureHeldBytes();
      else if (ticks > 20 && ticks % 10 === 0)
        heldMost = Math.max(heldMost, (await measureHeldBytes()) - heldBefore);
    }
    assert.ok(ticks > 50 && ticks < 5000, `dropped after ${ticks} ticks`);
    assert.deepEqual(stream.warnings, ['stream.viewer_dropped: it does not read its messages']);
    assert.ok(heldMost > 0 && heldMost < 2_000_000, `${heldMost} bytes were held`);
  });

  test('does not accept unsolicited pongs as answers to a ping', async () => {
    await using stream = await openStream({ tls });
    const viewer = await connect(stream.port, [], { autoPong: false });
    const pinged = once(viewer.socket, 'ping');
    stream.hub.ping(Buffer.from('random'));
    await pinged;
    for (const guess of ['', 'Random', 'random ']) viewer.socket.pong(guess);
    // After this answer, the pongs have been read.
    viewer.socket.ping();
    await once(viewer.socket, 'pong');
    stream.hub.ping(Buffer.from('another'));
    assert.equal((await viewer.closed).code, 1006);
    assert.deepEqual(stream.warnings, ['stream.viewer_dropped: it did not answer a ping']);
  });

  test('accepts a pong with the data of the ping', async () => {
    await using stream = await openStream({ tls });
    const viewer = await connect(stream.port, [], { autoPong: false });
    for (const data of ['first', 'second', 'third']) {
      const pinged = once(viewer.socket, 'ping');
      stream.hub.ping(Buffer.from(data));
      viewer.socket.pong((await pinged)[0]);
      viewer.socket.ping();
      await once(viewer.socket, 'pong');
    }
    assert.equal(stream.hub.viewers.size, 1);
  });

  test('drops the slowest viewers when too much is unread in total', async () => {
    await using stream = await openStream({ tls, maxBufferedBytes: 300_000 });
    const reading = await connect(stream.port);
    const stuck = [await connect(stream.port), await connect(stream.port)];
    for (const { socket } of stuck) socket.pause();
    stream.sampler.extra = { units: { failed: ['x'.repeat(20_000)] } };
    let ticks = 0;
    while (stream.hub.viewers.size > 1 && ticks < 5000) {
      stream.hub.tick();
      ticks += 1;
      await reading.receive(1 + ticks);
      reading.messages.fill('');
    }
    assert.deepEqual(
      [...stream.hub.viewers].map(({ waitingBytes }) => waitingBytes),
      [0],
    );
    assert.deepEqual(stream.warnings, [
      'stream.viewer_dropped: too much was unread for all viewers, and it reads slowest',
    ]);
  });

  test('closes connections beyond the maximum, and keeps the others', async () => {
    await using stream = await openStream({ tls, maxConnections: 2 });
    const viewers = [await connect(stream.port), await connect(stream.port)];
    await assert.rejects(connect(stream.port), /ECONNRESET|socket hang up|disconnected/u);
    stream.hub.tick();
    for (const viewer of viewers) assert.equal((await viewer.receive(2)).length, 2);
    assert.deepEqual(stream.warnings, [
      'stream.connection_refused: too many in total (limits.connections)',
    ]);
  });
});

/** Opens a connection with a completed handshake and no request. */
async function shakeHands(
  port: number,
  options: { readonly allowHalfOpen?: boolean } = {},
): Promise<TLSSocket> {
  const socket = connectTls({ ...options, port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return socket;
}

/** Returns everything received until the peer ends the connection. */
async function readToEnd(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => socket.destroy());
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

async function proveAlive(stream: Stream): Promise<void> {
  assert.equal((await sendRequest(stream.port, '/health')).text, 'OK\n');
}

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

/** Buffers are released in the background, so garbage is collected twice. */
async function measureHeldBytes(): Promise<number> {
  for (let time = 0; time < 2; time += 1) {
    if (typeof collectGarbage === 'function') collectGarbage();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function repeat(count: number, frame: Buffer): Buffer[] {
  return Array<Buffer>(count).fill(frame);
}

function maskedFrame(first: number, payload: Buffer): Buffer {
  const length =
    payload.length < 126
      ? [0x80 | payload.length]
      : [0xfe, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Buffer.from([first, ...length, 0, 0, 0, 0]), payload]);
}

/** Returns the code of the close frame at the end of the received bytes. */
function findCloseCode(text: string): number | null {
  const bytes = Buffer.from(text, 'latin1');
  const at = bytes.lastIndexOf(0x88);
  return at === -1 || at + 4 > bytes.length ? null : bytes.readUInt16BE(at + 2);
}
