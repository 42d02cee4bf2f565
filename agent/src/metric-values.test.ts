import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Rate, shareOf, toRatio } from './metric-values.ts';

test('returns no rate at first, then the growth per second', () => {
  const rate = new Rate();
  assert.equal(rate.next(1000, 5_000), null);
  assert.equal(rate.next(1500, 7_000), 250);
  assert.equal(rate.next(1500, 8_000), 0);
});

test('returns no rate after a reset or a wrap', () => {
  const rate = new Rate();
  rate.next(4_294_967_000, 0);
  assert.equal(rate.next(200, 1_000), null);
  assert.equal(rate.next(300, 2_000), 100);
});

test('returns no rate over too short an interval, and includes it in the next one', () => {
  const rate = new Rate();
  rate.next(1000, 1_000);
  assert.equal(rate.next(1000, 1_000), null);
  assert.equal(rate.next(1000, 900), null);
  assert.equal(rate.next(66_536, 1_003), null);
  assert.equal(rate.next(67_000, 2_000), 66_000);
});

test('clamps ratios to 0 to 1, and returns null for a total of 0', () => {
  assert.deepEqual([toRatio(1.02), toRatio(-0.1), toRatio(0.123_456)], [1, 0, 0.1235]);
  assert.deepEqual([shareOf(1, 4), shareOf(1, 0)], [0.25, null]);
});
