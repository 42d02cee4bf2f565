import assert from 'node:assert/strict';
import { test } from 'node:test';

import { eventually } from '../../test/eventually.ts';
import { startFakeRedis } from '../../test/fake-redis.ts';
import { openRedisStore } from './redis-store.ts';

const EXCHANGE = { kind: 'tries', client: 'a', expected: null, next: '1', keepMs: 1_000 };

/** Starts a Redis that replies so to an exchange. */
function startRedis(reply: (connection: number) => string | null) {
  return startFakeRedis((name, connection) => (name === 'EVAL' ? reply(connection) : '+OK\r\n'));
}

test('replaces a connection that broke without a reset, also under load', async () => {
  await using redis = await startRedis((connection) => (connection === 1 ? null : ':1\r\n'));
  const store = await openRedisStore(`VALKEY://${redis.host}`, 'secret');
  const first = [store.exchange(EXCHANGE), store.exchange(EXCHANGE)];
  for (const exchange of first) await assert.rejects(exchange);
  await eventually(async () => (await store.exchange(EXCHANGE).catch(() => null)) === true);
  assert.equal(redis.sockets.length, 2, 'replaced once');
  store.close();
});

test('rejects with the error of Redis', async () => {
  await using redis = await startRedis(() => '-READONLY a replica is read-only\r\n');
  const store = await openRedisStore(`VALKEY://${redis.host}`, 'secret');
  await assert.rejects(store.exchange(EXCHANGE), /READONLY a replica is read-only/u);
  store.close();
});
