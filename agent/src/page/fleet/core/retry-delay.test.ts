import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { decideRetryDelayMs, FAR_ATTEMPT } from './retry-delay.ts';

test('delays: quick, close together for half a minute, then up to 30 s', () => {
  const delays = Array.from({ length: 19 }, (_, attempt) => decideRetryDelayMs(attempt, 1));
  const near = [400, 1000, 2000, ...Array<number>(11).fill(2500)];
  assert.deepEqual(delays, [...near, 5000, 10_000, 20_000, 30_000, 30_000]);
  assert.equal(near.length, FAR_ATTEMPT);
  assert.equal(
    near.reduce((sum, each) => sum + each),
    30_900,
  );
});

test('at least half of a delay remains, whatever the attempt', () => {
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
      const delayMs = decideRetryDelayMs(attempt, random);
      const longestMs = decideRetryDelayMs(attempt, 1);
      assert.ok(delayMs >= longestMs / 2 && delayMs <= longestMs && longestMs <= 30_000);
    }),
  );
});
