import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { listFailedUnits } from './list-failed-units.ts';

const directory = mkdtempSync(join(tmpdir(), 'latchkey-bus-'));

after(() => rmSync(directory, { recursive: true, force: true }));

/** A bus that says what the test wants, piece by piece, once the question came. */
async function openBus(name: string, answer: (socket: Socket, received: Buffer) => void) {
  const path = join(directory, name);
  const server: Server = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      answer(socket, received);
    });
  });
  server.listen(path);
  await once(server, 'listening');
  return { path, [Symbol.dispose]: () => void server.close() };
}

function text(value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(Buffer.byteLength(value));
  return Buffer.concat([length, Buffer.from(`${value}\0`)]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function joinAt(multiple: number, parts: readonly Buffer[]): Buffer {
  return parts.reduce((all, part) => {
    const start = Math.ceil(all.length / multiple) * multiple;
    return Buffer.concat([all, Buffer.alloc(start - all.length), part]);
  }, Buffer.alloc(0));
}

/** One unit as `ListUnitsFiltered` gives it: ssssssouso. */
function unit(name: string): Buffer {
  return joinAt(4, [
    ...[name, 'What it is for', 'loaded', 'failed', 'failed', '', '/unit/path'].map(text),
    number(0),
    text(''),
    text('/'),
  ]);
}

/** A message of a kind (2 return, 3 error, 4 signal), with the call that it answers. */
function message(kind: number, replySerial: number, body: Buffer): Buffer {
  const sender = Buffer.concat([Buffer.from([7, 1, 's'.codePointAt(0) ?? 0, 0]), text(':1.2')]);
  const reply = Buffer.concat([
    Buffer.from([5, 1, 'u'.codePointAt(0) ?? 0, 0]),
    number(replySerial),
  ]);
  const signature = Buffer.from([8, 1, 'g'.codePointAt(0) ?? 0, 0, 1, 0x73, 0]);
  const fields = joinAt(8, [sender, signature, reply]);
  const head = Buffer.concat([
    Buffer.from([0x6c, kind, 1, 1]),
    number(body.length),
    number(77),
    number(fields.length),
    fields,
  ]);
  return joinAt(8, [head, body]);
}

function listOf(names: readonly string[]): Buffer {
  const units = joinAt(8, names.map(unit));
  return joinAt(8, [number(units.length), units]);
}

/** Lets everybody in, and answers the question with these bytes, cut in two. */
async function openAnswering(name: string, ...messages: readonly Buffer[]) {
  const state = { signedIn: false, answered: false };
  return openBus(name, (socket, received) => {
    if (!state.signedIn && received.includes('\r\n')) {
      state.signedIn = true;
      assert.match(received.toString('latin1'), /^\0AUTH EXTERNAL [0-9a-f]+\r\n$/);
      socket.write('OK 1234deadbeef\r\n');
    }
    if (state.answered || !received.includes('ListUnitsFiltered')) return;
    state.answered = true;
    const bytes = Buffer.concat(messages);
    socket.write(bytes.subarray(0, 21));
    setImmediate(() => socket.write(bytes.subarray(21)));
  });
}

test('failed units are named, whatever else the bus says first and however it is cut', async () => {
  using bus = await openAnswering(
    'units',
    message(2, 1, text(':1.99')),
    message(4, 0, text(':1.99')),
    message(2, 2, listOf(['nginx.service', 'backup.timer'])),
  );
  assert.deepEqual(await listFailedUnits(bus.path), ['backup.timer', 'nginx.service']);
});

test('without failed units the list is empty', async () => {
  using bus = await openAnswering('none', message(2, 2, listOf([])));
  assert.deepEqual(await listFailedUnits(bus.path), []);
});

test('a bus without systemd has no list', async () => {
  using bus = await openAnswering('no-systemd', message(3, 2, text('The name is not activatable')));
  assert.equal(await listFailedUnits(bus.path), null);
});

test('no bus has no list', async () => {
  assert.equal(await listFailedUnits(join(directory, 'nothing')), null);
});

test('a bus that refuses, hangs up, speaks something else or lies about its length is an error', async () => {
  using refusing = await openBus('refuses', (socket) => void socket.write('REJECTED EXTERNAL\r\n'));
  await assert.rejects(listFailedUnits(refusing.path), /The bus refuses/);
  using silent = await openBus('hangs-up', (socket) => void socket.end());
  await assert.rejects(listFailedUnits(silent.path), /The bus hung up/);
  using other = await openBus(
    'http',
    (socket) => void socket.write('OK 1\r\nHTTP/1.1 400 Bad Request'),
  );
  await assert.rejects(listFailedUnits(other.path), /another byte order/);
  const huge = message(2, 2, Buffer.alloc(0));
  huge.writeUInt32LE(0xff_ff_ff_00, 4);
  using liar = await openAnswering('huge', huge);
  await assert.rejects(listFailedUnits(liar.path), /over 4194304 bytes/);
  const cut = listOf(['a.service']);
  cut.writeUInt32LE(0x00_ff_ff_ff, 8);
  using broken = await openAnswering('cut', message(2, 2, cut));
  await assert.rejects(listFailedUnits(broken.path), RangeError);
});

test('a real bus takes the sign-in and the question', async (t) => {
  if (!existsSync('/usr/bin/dbus-daemon')) return t.skip('needs dbus-daemon');
  const path = join(directory, 'real');
  const daemon = spawn(
    '/usr/bin/dbus-daemon',
    ['--session', '--nofork', '--print-address=1', `--address=unix:path=${path}`],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  try {
    await once(daemon.stdout, 'data');
    assert.equal(await listFailedUnits(path), null);
  } finally {
    daemon.kill();
    await once(daemon, 'exit');
  }
});
