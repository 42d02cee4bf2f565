import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';

import { eventually } from '../test/eventually.ts';
import { listenOnFreePort } from '../test/ports.ts';
import { openRedisStore } from './redis-store.ts';

const EXCHANGE = { kind: 'tries', client: 'a', expected: null, next: '1', keepMs: 1_000 };

/** Starts a Redis that answers EVAL with this reply. @param answer null: none */
async function startFakeRedis(answer: (connection: number) => string | null) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const connection = sockets.push(socket);
    socket.on('data', (data) => {
      for (const [, name] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n([A-Z]+)/gu)) {
        const reply = name === 'EVAL' ? answer(connection) : '+OK\r\n';
        if (reply !== null) socket.write(reply);
      }
    });
  });
  const url = `VALKEY://127.0.0.1:${await listenOnFreePort(server)}`;
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { url, sockets, [Symbol.asyncDispose]: close };
}

test('replaces a connection that broke without a reset, also under load', async () => {
  await using redis = await startFakeRedis((connection) => (connection === 1 ? null : ':1\r\n'));
  const store = await openRedisStore(redis.url, 'secret');
  const first = [store.exchange(EXCHANGE), store.exchange(EXCHANGE)];
  for (const exchange of first) await assert.rejects(exchange);
  await eventually(async () => (await store.exchange(EXCHANGE).catch(() => null)) === true);
  assert.equal(redis.sockets.length, 2, 'replaced once');
  store.close();
});

test('rejects with the error of Redis', async () => {
  await using redis = await startFakeRedis(() => '-READONLY a replica is read-only\r\n');
  const store = await openRedisStore(redis.url, 'secret');
  await assert.rejects(store.exchange(EXCHANGE), /READONLY a replica is read-only/u);
  store.close();
});
