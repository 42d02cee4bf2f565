import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';

import { waitUntilReady } from './connection.ts';

/** A message of PostgreSQL's protocol: its type, its length, its content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const NO_DATABASE = message('E', Buffer.from('SFATAL\0C3D000\0Mno such database\0\0'));
const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]);

/** Has no database but `postgres`, and disconnects at `create database`. */
function answer(socket: Socket): void {
  socket.on('error', () => {});
  socket.once('data', (startup) => {
    if (startup.includes('database\0latchkey\0')) return socket.end(NO_DATABASE);
    return socket.once('data', () => socket.destroy()).write(WELCOME);
  });
}

test('a server that ends while its database is created fails the start, not the process', async (t) => {
  const server = createServer(answer).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const connection = {
    host: address.address,
    port: address.port,
    user: 'latchkey',
    database: 'latchkey',
  };
  const supervised = {
    ended: Promise.withResolvers<string>().promise,
    hasEnded: () => false,
    stop: async () => {},
  };
  const log = { info: assert.fail, warn: assert.fail, error: assert.fail };
  await assert.rejects(waitUntilReady(supervised, connection, log), /Connection terminated/);
});
