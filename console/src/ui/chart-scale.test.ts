import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chooseLabels, chooseTicks, drawLine } from './chart-scale.ts';

test('a vertical scale has readable steps and contains the largest value', () => {
  assert.deepEqual(chooseTicks(0, 4), [0, 1]);
  assert.deepEqual(chooseTicks(3, 4), [0, 1, 2, 3]);
  assert.deepEqual(chooseTicks(17, 4), [0, 5, 10, 15, 20]);
  assert.deepEqual(chooseTicks(412, 4), [0, 200, 400, 600]);
  assert.deepEqual(chooseTicks(1_000_000, 4), [0, 500_000, 1_000_000]);
});

test('a horizontal scale labels the last time, at even distances', () => {
  assert.deepEqual(chooseLabels(10, 3), [1, 5, 9]);
  assert.deepEqual(chooseLabels(3, 10), [0, 1, 2]);
  assert.deepEqual(chooseLabels(0, 5), []);
  assert.equal(chooseLabels(365, 12).length <= 12, true);
});

function draw(values: (number | null)[]): string {
  return drawLine(
    values,
    (index) => index * 10,
    (value) => value,
  );
}

test('a missing value interrupts a line', () => {
  assert.equal(draw([1, 2.04, null, 3]), 'M0 1L0 1L10 2M30 3L30 3');
  assert.equal(draw([null]), '');
});
