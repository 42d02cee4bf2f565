import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FailedStarts } from './failed-starts.ts';

test('the delay grows with each failed start, of which six in a row are too many', () => {
  const starts = new FailedStarts();
  const seen = [];
  for (let failures = 0; failures < 7; failures++) {
    seen.push([starts.delayMs, starts.areTooMany]);
    starts.recordEnd('starting', 5_000);
  }
  const delays = [0, 500, 1_000, 2_000, 5_000, 10_000].map((ms) => [ms, false]);
  assert.deepEqual(seen, [...delays, [10_000, true]]);
});

test('a worker that ends soon after it served requests counts as a failed start, a later one does not', () => {
  const starts = new FailedStarts();
  starts.recordEnd('ready', 9_999);
  assert.equal(starts.delayMs, 500);
  starts.recordEnd('ready', 10_000);
  assert.equal(starts.delayMs, 0);
});

test('a start that fails after a long time is a failed one', () => {
  const starts = new FailedStarts();
  starts.recordEnd('starting', 300_000);
  assert.equal(starts.delayMs, 500);
});
