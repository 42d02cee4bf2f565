import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { test } from 'node:test';

import { makeServiceHome } from '../service-process.ts';

/** A message of PostgreSQL's protocol: its type, its length, its content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const authenticated = message('R', Buffer.from([0, 0, 0, 0]));
const ready = message('Z', Buffer.from('I'));

const SETTING = 'server_version_num';

/** One row of one text column. */
function answer(text: string): Buffer {
  const type = Buffer.alloc(18);
  // The type `text`, of a varying length.
  type.writeInt32BE(25, 6);
  type.writeInt16BE(-1, 10);
  const column = Buffer.concat([Buffer.from(`${SETTING}\0`), type]);
  const length = Buffer.alloc(4);
  length.writeInt32BE(text.length);
  const one = Buffer.from([0, 1]);
  return Buffer.concat([
    message('T', Buffer.concat([one, column])),
    message('D', Buffer.concat([one, length, Buffer.from(text)])),
    message('C', Buffer.from('SHOW\0')),
    ready,
  ]);
}

/** A server that lets everybody in and answers every query with the version that it pretends to have. */
function pretendVersion(version: string): Server {
  return createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.concat([authenticated, ready]));
      socket.on('data', (data) => {
        if (String(data).startsWith('Q')) socket.write(answer(version));
      });
    });
  });
}

test('a database that is too old ends the start at once, though it keeps the connection open', async (t) => {
  const server = pretendVersion('140011').listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  await using home = await makeServiceHome();
  const startedAt = performance.now();
  const { code, output } = await home.runToEnd({
    DATABASE_URL: `postgres://latchkey@127.0.0.1:${address.port}/latchkey`,
    LATCHKEY_SECRET: 'a secret of thirty-two characters!',
  });
  const tookMs = performance.now() - startedAt;
  assert.match(output, /The database is PostgreSQL 14; version 15 or newer is needed\./);
  assert.equal(code, 78);
  assert.ok(tookMs < 15_000, `${tookMs} ms`);
});
