import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Rate, shareOf, toRatio } from './figures.ts';

test('a counter gives no rate at first, then its growth per second of the clock', () => {
  const rate = new Rate();
  assert.equal(rate.next(1000, 5_000), null);
  assert.equal(rate.next(1500, 7_000), 250);
  assert.equal(rate.next(1500, 8_000), 0);
});

test('a counter that was reset or wrapped gives no rate for that tick, and never a spike', () => {
  const rate = new Rate();
  rate.next(4_294_967_000, 0);
  assert.equal(rate.next(200, 1_000), null);
  assert.equal(rate.next(300, 2_000), 100);
});

test('over a moment there is no rate, and it is part of the next one', () => {
  const rate = new Rate();
  rate.next(1000, 1_000);
  assert.equal(rate.next(1000, 1_000), null);
  assert.equal(rate.next(1000, 900), null);
  assert.equal(rate.next(66_536, 1_003), null);
  assert.equal(rate.next(67_000, 2_000), 66_000);
});

test('a ratio stays between 0 and 1, and there is none of nothing', () => {
  assert.deepEqual([toRatio(1.02), toRatio(-0.1), toRatio(0.123_456)], [1, 0, 0.1235]);
  assert.deepEqual([shareOf(1, 4), shareOf(1, 0)], [0.25, null]);
});
