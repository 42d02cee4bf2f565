import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { StorageQuota } from './storage-quota.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const START = 1_800_000_000_000;

test('a network can store its quota at once, and then the refill', () => {
  const quota = new StorageQuota(24_000);
  quota.charge('a', 24_000, START);
  assert.equal(quota.readWaitSeconds('a', START), 0);
  quota.charge('a', 1_000, START);
  assert.equal(quota.readWaitSeconds('a', START), HOUR_MS / 1_000);
  assert.equal(quota.readWaitSeconds('a', START + HOUR_MS), 0);
});

test('other networks are not affected', () => {
  const quota = new StorageQuota(1);
  quota.charge('a', 1_000_000, START);
  assert.equal(quota.readWaitSeconds('b', START), 0);
});

test('no request and no change of the clock blocks a network for more than a day', () => {
  const quota = new StorageQuota(1);
  quota.charge('a', Number.MAX_SAFE_INTEGER, START);
  assert.equal(quota.readWaitSeconds('a', START), DAY_MS / 1_000);
  assert.equal(quota.readWaitSeconds('a', START - 365 * DAY_MS), 0);
});

test('a network that waits as required stores at most its quota and one request in a day', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(sizes, (bytes) => {
      const quota = new StorageQuota(10_000);
      let now = START;
      let stored = 0;
      for (const size of bytes) {
        now += quota.readWaitSeconds('a', now) * 1_000;
        if (now - START >= DAY_MS) break;
        quota.charge('a', size, now);
        stored += size;
      }
      // The quota at the start, and the refill of the day.
      assert.ok(stored <= 2 * 10_000 + 5_000);
    }),
  );
});
