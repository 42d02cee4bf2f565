import assert from 'node:assert/strict';
import { test } from 'node:test';

import { showDifference } from './show-difference.ts';

test('a difference is shown with the lines around it', () => {
  assert.deepEqual(showDifference('a\nb\nc\nd\n', 'a\nb\nc\nnew\nd\n'), [
    '  b',
    '  c',
    '+ new',
    '  d',
    '  ',
  ]);
  assert.deepEqual(showDifference('old\n', 'new\n'), ['- old', '+ new', '  ']);
  assert.deepEqual(
    showDifference('x\nx\n', 'x\nx\nx\n').filter((line) => line.startsWith('+')),
    ['+ x'],
  );
});

test('equal texts have no difference', () => {
  assert.deepEqual(
    showDifference('a\nb\n', 'a\nb\n').filter((line) => !line.startsWith(' ')),
    [],
  );
});
