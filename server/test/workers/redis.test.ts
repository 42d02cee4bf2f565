import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { createClient } from '@redis/client';

import { lacksOpenssl } from '../../../agent/test/certificates.ts';
import { checkRedis } from '#server/features/doctor/check-redis.ts';
import { LocalCounters } from '#server/lib/counters.ts';
import { RateLimiter } from '#server/lib/rate-limiter.ts';
import { SharedCounters } from '#server/lib/shared-counters.ts';
import { openRedisStore } from '#server/redis/redis-store.ts';

import { runDoctor } from '../doctor-process.ts';
import { createExternalHome, type ExternalHome } from '../external-service.ts';
import { anyMachine, anyUnknownKey } from '../license-steps.ts';
import { listenOnFreePort } from '../ports.ts';
import { lacksRedis, startRedis, type RedisServer } from '../redis-server.ts';
import type { ServiceProcess } from '../service-process.ts';
import { createCertificates } from '../tls-outcomes.ts';
import { postOverNewConnection } from './new-connection.ts';

const SECRET = 'the secret of the counters';

/** Guesses at the services in turn; returns the statuses. */
async function guess(
  services: readonly ServiceProcess[],
  times: number,
  from: string,
): Promise<number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < times; count++) {
    const url = `${services[count % services.length]?.url}/api/v1/licenses/activate`;
    const body = { license_key: anyUnknownKey(), machine_fingerprint: anyMachine() };
    statuses.push(await postOverNewConnection(url, body, { 'x-forwarded-for': from }));
  }
  return statuses;
}

function createFallback(): LocalCounters {
  return new LocalCounters();
}

function onFailure(error: unknown): never {
  assert.fail(String(error));
}

function repeat(status: number, times: number): number[] {
  return Array.from({ length: times }, () => status);
}

async function readRedisCheck({ url }: ServiceProcess): Promise<string> {
  const text = await (await fetch(`${url}/api/v1/health`)).text();
  return /"redis":\{[^}]*\}/u.exec(text)?.[0] ?? '';
}

describe('a Redis with TLS', { skip: lacksRedis || lacksOpenssl }, () => {
  test('is trusted through NODE_EXTRA_CA_CERTS alone, and doctor says so', async () => {
    using certificates = createCertificates();
    await using redis = await startRedis(undefined, certificates.server);
    const settings = { REDIS_URL: redis.url };
    const [refused] = await runDoctor('redis', settings);
    assert.match(refused?.cause ?? '', / has a certificate of an authority that is not trusted/u);
    assert.match(refused?.fix ?? '', /NODE_EXTRA_CA_CERTS/u);
    const trust = { NODE_EXTRA_CA_CERTS: certificates.root.certificateFile };
    const [accepted] = await runDoctor('redis', { ...settings, ...trust });
    assert.equal(accepted?.status, 'ok', accepted?.cause);
  });
});

describe('counters in Redis', { skip: lacksRedis }, () => {
  test('count requests of two processes together, and expire with their window', async () => {
    await using redis = await startRedis();
    const limiters = await Promise.all(
      [1, 2].map(async () => {
        const store = await openRedisStore(redis.url.replace('redis:', 'valkey:'), SECRET);
        const counters = new SharedCounters({ store, createFallback, onFailure, onRecovery() {} });
        const limiter = new RateLimiter(counters, { name: 'tries', quota: 10, windowSeconds: 60 });
        return { limiter, counters, store };
      }),
    );
    const now = Date.now();
    const verdicts = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        Promise.all(limiters.map(({ limiter }) => limiter.take(`${index % 2}`, now))),
      ),
    );
    const allowed = verdicts.flat().filter(({ retryAfterSeconds }) => retryAfterSeconds === 0);
    assert.equal(allowed.length, 20);
    const [one, other] = limiters;
    const brief = { state: [1], keepMs: 1, result: null };
    await one?.counters.update('brief', 'client', () => brief);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(await other?.counters.read('brief', 'client'), null);
    for (const { store } of limiters) store.close();
  });
});

test(
  'the doctor reports a server that can be used, evicts, or is full',
  { skip: lacksRedis },
  async () => {
    await using redis = await startRedis();
    const examine = async (): Promise<string | undefined> => {
      const [finding, ...others] = await checkRedis(redis.url);
      assert.deepEqual(others, []);
      return finding?.code ?? finding?.symptom;
    };
    assert.match(
      (await examine()) ?? '',
      /^(?:Redis|Valkey) \d+\.\d+\.\d+ at 127\.0\.0\.1:\d+ counts\.$/u,
    );
    const client = await createClient({ url: redis.url }).connect();
    await client.configSet({ maxmemory: '100mb', 'maxmemory-policy': 'allkeys-lru' });
    assert.equal(await examine(), 'redis.evicts_counts');
    await client.configSet({ maxmemory: '1', 'maxmemory-policy': 'noeviction' });
    assert.equal(await examine(), 'redis.not_writable');
    client.destroy();
  },
);

describe('two services with one Redis', { skip: lacksRedis }, () => {
  let external: ExternalHome;
  let redis: RedisServer;
  let services: readonly ServiceProcess[];

  before(async () => {
    external = await createExternalHome();
    redis = await startRedis();
    services = [
      await external.start({ REDIS_URL: redis.url }),
      await external.start({ REDIS_URL: redis.url }),
    ];
  });
  after(async () => {
    await redis.kill();
    await external[Symbol.asyncDispose]();
  });

  test('count failed look-ups once', async () => {
    assert.deepEqual(await guess(services, 12, '203.0.113.1'), [...repeat(404, 10), 429, 429]);
    for (const service of services) {
      assert.equal(await readRedisCheck(service), '"redis":{"status":"healthy"}');
    }
  });

  test('count for themselves while it hangs or is gone, with one warning, and together again later', async () => {
    redis.send('SIGSTOP');
    assert.deepEqual(await guess(services, 20, '203.0.113.2'), repeat(404, 20));
    assert.deepEqual(await guess(services, 2, '203.0.113.2'), [429, 429]);
    await redis.kill();
    for (const service of services) {
      await service.waitForLine(/"limits\.redis_failed".*limits count on this machine alone/u);
      const warnings = service.lines.filter((line) => line.includes('"limits.redis_failed"'));
      assert.equal(warnings.length, 1);
      assert.match(await readRedisCheck(service), /"degraded"/u);
    }
    const port = Number(new URL(redis.url).port);
    redis = await startRedis(port);
    for (const service of services) await service.waitForLine(/"limits\.redis_recovered"/u);
    assert.deepEqual(await guess(services, 12, '203.0.113.3'), [...repeat(404, 10), 429, 429]);
  });
});

test('a service starts with a Redis that never answers, and logs one warning', async () => {
  await using external = await createExternalHome();
  const silent = createServer(() => {});
  const url = `redis://127.0.0.1:${await listenOnFreePort(silent)}`;
  const service = await external.start({ REDIS_URL: url });
  await service.waitForLine(/"level":"warn".*"limits\.redis_failed"/u);
  assert.deepEqual(await guess([service], 11, '203.0.113.4'), [...repeat(404, 10), 429]);
  await service.stop();
  assert.equal(service.lines.filter((line) => line.includes('limits.redis')).length, 1);
  silent.close();
});
