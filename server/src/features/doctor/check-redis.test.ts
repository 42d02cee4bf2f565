import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, test } from 'node:test';

import { readFacts } from '#server/redis/inspect-redis.ts';

import { startFakeRedis } from '../../../test/fake-redis.ts';
import { listenOnFreePort } from '../../../test/ports.ts';
import { checkRedis, judgeFacts } from './check-redis.ts';

/** As Valkey 8.0.1 reports itself; `redis_version` is the one that it is compatible with. */
const VALKEY_INFO = [
  '# Server',
  'redis_version:7.2.4',
  'server_name:valkey',
  'valkey_version:8.0.1',
  '',
  '# Memory',
  'maxmemory:0',
  'maxmemory_policy:noeviction',
  '',
  '# Cluster',
  'cluster_enabled:0',
  '',
].join('\r\n');

const REDIS_FACTS = readFacts(
  'redis_version:7.0.15\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\ncluster_enabled:0\r\n',
);

/** Checks a Redis that answers so. */
async function examine(replies: Readonly<Record<string, string>>) {
  await using redis = await startFakeRedis((name) => replies[name] ?? '+OK\r\n');
  const findings = await checkRedis(`redis://shop:s3cret@${redis.host}`);
  assert.doesNotMatch(JSON.stringify(findings), /s3cret/u);
  return findings.map(({ code, symptom, cause = '' }) =>
    [code ?? symptom, cause].map((text) => text.replaceAll(redis.host, 'HOST')),
  );
}

function bulk(text: string): string {
  return `$${text.length}\r\n${text}\r\n`;
}

test('without REDIS_URL there is nothing to check', async () => {
  assert.deepEqual(await checkRedis(null), []);
});

test('a server that stores a value counts', async () => {
  assert.deepEqual(await examine({ INFO: bulk(VALKEY_INFO), EVAL: ':1\r\n' }), [
    ['Valkey 8.0.1 at HOST counts.', ''],
  ]);
});

test('a server that does not permit INFO counts', async () => {
  const refused = "-NOPERM User shop has no permissions to run the 'info' command\r\n";
  assert.deepEqual(await examine({ INFO: refused, EVAL: ':1\r\n' }), [
    ['A server that does not report its version at HOST counts.', ''],
  ]);
});

test('reports a server that does not store a value, with its reply', async () => {
  const refused = "-READONLY You can't write against a read only replica.\r\n";
  assert.deepEqual(await examine({ INFO: bulk(VALKEY_INFO), EVAL: refused }), [
    [
      'redis.not_writable',
      "HOST does not store a value (READONLY You can't write against a read only replica.).",
    ],
  ]);
});

test('reports a node of a cluster as such, also when it redirects', async () => {
  const info = bulk(VALKEY_INFO.replace('cluster_enabled:0', 'cluster_enabled:1'));
  const redirected = '-MOVED 3999 127.0.0.1:6381\r\n';
  assert.deepEqual(await examine({ INFO: info, EVAL: redirected }), [
    [
      'redis.cluster_unsupported',
      'HOST belongs to a Redis Cluster, which redirects most commands.',
    ],
  ]);
});

test('reports a password that is refused', async () => {
  const refused = '-WRONGPASS invalid username-password pair or user is disabled.\r\n';
  assert.deepEqual(await examine({ AUTH: refused }), [
    [
      'redis.unavailable',
      'The Redis of REDIS_URL at HOST cannot be used (WRONGPASS invalid username-password pair or user is disabled.).',
    ],
  ]);
});

test('reports a server that refuses connections or does not reply', async () => {
  const [refused] = await checkRedis('redis://127.0.0.1:1');
  assert.equal(
    refused?.cause,
    'The Redis of REDIS_URL at 127.0.0.1:1 cannot be used (connect ECONNREFUSED 127.0.0.1:1).',
  );
  const silent = createServer(() => {});
  after(() => silent.close());
  const [late] = await checkRedis(`redis://127.0.0.1:${await listenOnFreePort(silent)}`);
  assert.equal(late?.code, 'redis.unavailable');
  assert.match(late.cause ?? '', /\(no connection in 2000 ms\)\.$/u);
});

test('judgeFacts reports eviction only where memory has a limit', () => {
  const limited = { ...REDIS_FACTS, maxMemoryBytes: 100_000_000 };
  assert.deepEqual(judgeFacts('redis:6379', REDIS_FACTS), []);
  assert.deepEqual(judgeFacts('redis:6379', { ...limited, evictionPolicy: 'noeviction' }), []);
  for (const evictionPolicy of ['allkeys-lru', 'volatile-ttl']) {
    const [finding] = judgeFacts('redis:6379', { ...limited, evictionPolicy });
    assert.equal(finding?.code, 'redis.evicts_counts');
    assert.equal(
      finding.cause,
      `redis:6379 has the maxmemory-policy ${evictionPolicy} and a limit of 100000000 bytes.`,
    );
  }
});

test('judgeFacts reports an old version and a cluster', () => {
  const facts = { ...REDIS_FACTS, version: '5.0.14', isCluster: true };
  assert.deepEqual(
    judgeFacts('redis:6379', facts).map(({ code }) => code),
    ['redis.version_unsupported', 'redis.cluster_unsupported'],
  );
  assert.deepEqual(judgeFacts('redis:6379', { ...REDIS_FACTS, version: '10.0.0' }), []);
});
