import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GuessLimiter } from '#server/features/licenses/guess-limiter.ts';
import { LocalCounters } from '#server/lib/counters.ts';

import { createTestClock } from '../test-clock.ts';

/**
 * On a dual-stack socket, the address of an IPv4 client is `::ffff:203.0.113.7`. Addresses were counted by their first 64 bits,
 * which are zero in all of these: one guesser slowed down every customer.
 */
test('IPv4-mapped IPv6 addresses are counted separately', async () => {
  const limiter = new GuessLimiter(createTestClock(), new LocalCounters());
  for (let guess = 1; guess <= 10; guess++) {
    assert.equal(await limiter.recordFailure('::ffff:203.0.113.7'), 0);
  }
  assert.equal(await limiter.recordFailure('::ffff:203.0.113.8'), 0);
  assert.equal(await limiter.recordFailure('::FFFF:203.0.113.7'), 30);
  assert.equal(await limiter.recordFailure('203.0.113.7'), 30);
});
