import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { FAILURE_MEMORY_MS, RETRY_DELAYS_MS, nextAttemptAt } from './retry.ts';

const now = new Date('2027-03-01T12:00:00.000Z');
const MIDDLE = 0.5;

function pauseOf(attempts: number, retryAfterMs: number): number {
  return (nextAttemptAt(attempts, retryAfterMs, now, MIDDLE)?.getTime() ?? 0) - now.getTime();
}

test('uses the delays of Standard Webhooks for ten attempts', () => {
  const pauses = Array.from({ length: 10 }, (_, index) => {
    const next = nextAttemptAt(index + 1, null, now, MIDDLE);
    return next === null ? null : (next.getTime() - now.getTime()) / 1_000;
  });
  assert.deepEqual(pauses, [5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400, null]);
});

test('varies a delay by at most a tenth', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: RETRY_DELAYS_MS.length }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, random) => {
        const delayMs = RETRY_DELAYS_MS[attempts - 1] ?? 0;
        const pauseMs =
          (nextAttemptAt(attempts, null, now, random)?.getTime() ?? 0) - now.getTime();
        assert.ok(pauseMs >= delayMs * 0.9 - 1 && pauseMs <= delayMs * 1.1 + 1);
      },
    ),
  );
});

test('every delay is within one failure period', () => {
  for (let attempts = 1; attempts <= RETRY_DELAYS_MS.length; attempts++) {
    for (const askedMs of [null, Number.MAX_SAFE_INTEGER]) {
      const next = nextAttemptAt(attempts, askedMs, now, 1);
      assert.ok(next !== null && next.getTime() - now.getTime() < FAILURE_MEMORY_MS);
    }
  }
});

test('observes a longer Retry-After up to a day, never a shorter one', () => {
  assert.equal(pauseOf(1, 60_000), 60_000);
  assert.equal(pauseOf(2, 60_000), 300_000);
  assert.equal(pauseOf(1, 10 * 86_400_000), 86_400_000);
});
