/**
 * While the service had no file descriptor left, the health in the console was answered 500: the resident memory is read from
 * `/proc/self/stat`, and `process.memoryUsage.rss()` threw EMFILE.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createKey } from '../api-key-steps.ts';
import { startTestService } from '../harness.ts';

const service = await startTestService();

test('reports the health without a free file descriptor', async (t) => {
  const { apiKey } = await createKey(service, { scopes: ['admin:read'] });
  t.mock.method(process.memoryUsage, 'rss', () => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  });
  const { body, status } = await service.get('/api/v1/admin/health', { 'x-api-key': apiKey });
  assert.equal(status, 200);
  const { memory_bytes: memoryBytes }: { memory_bytes?: unknown } = Object(body);
  assert.ok(Number(memoryBytes) > 30 * 1_024 * 1_024, String(memoryBytes));
});
