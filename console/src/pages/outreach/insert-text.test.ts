import assert from 'node:assert/strict';
import { test } from 'node:test';

import { insertBlock, insertText } from './insert-text.ts';

test('replaces the selection by a placeholder', () => {
  assert.deepEqual(insertText('Hello you!', [6, 9], '{{name|friend}}'), {
    value: 'Hello {{name|friend}}!',
    start: 21,
    end: 21,
  });
});

test('makes the selection a paragraph of its own', () => {
  const around = { before: '[[', sample: 'Get it', after: ']](u)' };
  const { value, start, end } = insertBlock('First get now last', [6, 13], around);
  assert.equal(value, 'First\n\n[[get now]](u)\n\nlast');
  assert.equal(value.slice(start, end), 'get now');
  assert.equal(insertBlock('', [0, 0], around).value, '[[Get it]](u)');
});
