import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createBoundedCache } from './bounded-cache.ts';

test('evicts the least recently used entry when it is full', () => {
  const cache = createBoundedCache<number>(2);
  cache.set('first', 1);
  cache.set('second', 2);
  cache.get('first');
  cache.set('third', 3);
  assert.deepEqual([...cache.keys()].sort(), ['first', 'third']);
  assert.equal(cache.size, 2);
});

test('allocates memory for stored entries, not for its capacity', () => {
  const before = process.memoryUsage();
  const caches = Array.from({ length: 20 }, () => createBoundedCache<number>(100_000));
  const after = process.memoryUsage();
  const addedBytes = after.heapUsed + after.external - before.heapUsed - before.external;
  assert.ok(addedBytes < 1_000_000, `20 empty caches took ${addedBytes} bytes`);
  assert.equal(caches.length, 20);
});
