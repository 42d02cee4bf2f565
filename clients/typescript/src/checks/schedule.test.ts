import assert from 'node:assert/strict';
import { test } from 'node:test';

import { checkWaitMs } from './schedule.ts';

const MINUTE = 60_000;

test('waits a day, and 10 % more or less', () => {
  const waits = [0, 0.5, 1].map((random) => Math.round(checkWaitMs(0, 0, random) / MINUTE));
  assert.deepEqual(waits, [1296, 1440, 1584]);
});

test('waits longer after each question without an answer', () => {
  const waits = [1, 2, 3, 4, 5, 99].map((failures) => checkWaitMs(failures, 0, 0.5) / MINUTE);
  assert.deepEqual(waits, [1, 5, 15, 60, 60, 60]);
});

test('waits as long as the service asks', () => {
  assert.equal(checkWaitMs(1, 30 * MINUTE, 0.5), 30 * MINUTE);
  assert.equal(checkWaitMs(1, 1_000, 0.5), MINUTE);
});
