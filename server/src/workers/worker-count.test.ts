import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseWorkerCount } from './worker-count.ts';

test('is a number up to that of the cores, and at least two are allowed', () => {
  assert.equal(parseWorkerCount('1', 4), 1);
  assert.equal(parseWorkerCount('4', 4), 4);
  assert.equal(parseWorkerCount('2', 1), 2);
});

test('is the number of cores for auto', () => {
  assert.equal(parseWorkerCount('auto', 1), 1);
  assert.equal(parseWorkerCount('auto', 8), 8);
});

test('refuses other text and more workers than cores', () => {
  const message =
    'Expected auto or a whole number from 1 to 4, since this machine has 4 cores and more workers would only share them.';
  for (const text of ['', '0', '-1', '1.5', '5', '100000', 'AUTO', 'many']) {
    assert.throws(() => parseWorkerCount(text, 4), { message }, text);
  }
  assert.throws(() => parseWorkerCount('3', 1), /from 1 to 2, since this machine has 1 core and/u);
});
