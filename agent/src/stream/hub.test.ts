import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dropSlowest } from './hub.ts';

/** @returns the positions of the dropped viewers */
function drop(waiting: readonly number[], maxBytes: number): number[] {
  const dropped: number[] = [];
  const viewers = waiting.map((waitingBytes, at) => ({
    waitingBytes,
    drop: () => void dropped.push(at),
  }));
  dropSlowest(viewers, maxBytes);
  return dropped;
}

test('drops no viewer while the total stays within the limit', () => {
  assert.deepEqual(drop([], 0), []);
  assert.deepEqual(drop([0, 50, 50], 100), []);
});

test('drops the viewers with the most unread bytes first, and no more than needed', () => {
  assert.deepEqual(drop([10, 60, 0, 70, 20], 100), [3]);
  assert.deepEqual(drop([10, 60, 0, 70, 20], 30), [3, 1]);
  assert.deepEqual(drop([10, 10, 10], 0), [0, 1, 2]);
});
