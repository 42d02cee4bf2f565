import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { exponentialDelayMs, readRetryAfter, withJitter } from './retry-delay.ts';

test('grows from three seconds to six hours', () => {
  const delays = [1, 2, 5, 10, 11, 25].map((attempts) =>
    Math.round(exponentialDelayMs(attempts, 0.5) / 1_000),
  );
  assert.deepEqual(delays, [3, 7, 148, 22_026, 22_026, 22_026]);
});

test('varies a delay by at most a tenth', () => {
  assert.deepEqual([withJitter(1_000, 0), withJitter(1_000, 1)], [900, 1_100]);
  const random = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), random, (delayMs, value) => {
      const delay = withJitter(delayMs, value);
      assert.ok(delay >= delayMs * 0.9 - 1 && delay <= delayMs * 1.1 + 1);
    }),
  );
});

const now = new Date('2027-03-01T12:00:00.000Z');

test('reads Retry-After in seconds and as a date', () => {
  assert.deepEqual(
    [
      '120',
      ' 0 ',
      'Mon, 01 Mar 2027 12:00:30 GMT',
      'Mon, 01 Mar 2027 11:00:00 GMT',
      '-1',
      'soon',
      '',
      null,
      'Mon, 99 Xyz 2027 12:00:30 GMT',
    ].map((header) => readRetryAfter(header, now)),
    [120_000, 0, 30_000, 0, null, null, null, null, null],
  );
});
