import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import * as fc from 'fast-check';

import { LocalCounters, type Counters } from './counters.ts';
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
  const earlier = START - 365 * DAY_MS;
  assert.equal(quota.readWaitSeconds('a', earlier), DAY_MS / 1_000);
  assert.equal(quota.readWaitSeconds('a', earlier + HOUR_MS), (DAY_MS - HOUR_MS) / 1_000);
  assert.equal(quota.readWaitSeconds('a', earlier + DAY_MS), 0);
});

test('processes whose clocks differ block a network for a day', async () => {
  const counters = new LocalCounters();
  const quotas = [new StorageQuota(1, counters), new StorageQuota(1, counters)];
  for (let count = 0; count < 6; count++) {
    quotas[count % 2]?.charge('a', 10, START - 5 * (count % 2));
    await setImmediate();
  }
  for (const quota of quotas) assert.equal(quota.readWaitSeconds('a', START), DAY_MS / 1_000);
});

test('a charge that is not yet shared counts after an earlier one is', async () => {
  const counters = new LocalCounters();
  let calls = 0;
  const slow: Pick<Counters, 'update'> = {
    async update(kind, client, change) {
      const isFirst = calls++ === 0;
      const result = await counters.update(kind, client, change);
      return isFirst ? result : new Promise(() => {});
    },
  };
  const quota = new StorageQuota(24_000, slow);
  quota.charge('a', 25_000, START);
  quota.charge('a', 1_000, START);
  await setImmediate();
  assert.equal(quota.readWaitSeconds('a', START), (2 * HOUR_MS) / 1_000);
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
