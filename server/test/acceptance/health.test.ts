import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startTestService } from '../harness.ts';
import { SECOND_MS } from '../test-clock.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { readBody } from './bodies.ts';

const service = await openAcceptanceService();

describe('200', () => {
  test('live: alive in every state', async () => {
    const answer = await service.get('/api/v1/health/live');
    const { version, uptime_seconds: uptime, ...rest } = readBody(answer.body);
    assert.deepEqual([answer.status, rest], [200, { status: 'alive' }]);
    assert.match(String(version), /^\d+\.\d+\.\d+/);
    assert.ok(Number.isInteger(uptime));
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  });

  test('ready: the database answers and is migrated', async () => {
    const answer = await service.get('/api/v1/health/ready');
    assert.equal(answer.status, 200);
    assert.equal(readBody(answer.body)['status'], 'ready');
  });

  test('health: every part by its name', async () => {
    const answer = await service.get('/api/v1/health');
    assert.equal(answer.status, 200);
    const { checks, status } = readBody(answer.body);
    assert.equal(status, 'healthy');
    const { database } = readBody(checks);
    assert.equal(readBody(database)['status'], 'healthy');
    assert.equal(typeof readBody(database)['latency_ms'], 'number');
  });
});

describe('503', () => {
  test(
    'without its database: not ready and unhealthy, but alive, without inner error messages',
    inProcess,
    async () => {
      const own = await startTestService();
      await own.database.drop();
      // The last check of the database is cached for a short time.
      own.clock.advance(60 * SECOND_MS);
      const ready = await own.get('/api/v1/health/ready');
      assert.deepEqual([ready.status, readBody(ready.body)['status']], [503, 'not_ready']);
      const health = await own.get('/api/v1/health');
      assert.deepEqual([health.status, readBody(health.body)['status']], [503, 'unhealthy']);
      assert.doesNotMatch(health.text + ready.text, /test_|postgres|latchkey_|socket|\/tmp/);
      assert.equal((await own.get('/api/v1/health/live')).status, 200);
    },
  );
});
