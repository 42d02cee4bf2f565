import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { isStorable } from './refuse-unstorable-text.ts';

/** Texts of which PostgreSQL cannot store some. */
const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a\0', '\ud800', '\udc00x'));

const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, 1.5),
    texts,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(texts, tie('value'), { maxKeys: 3 }),
  ),
})).value;

test('accepts a value exactly if its JSON contains neither U+0000 nor a lone surrogate', () => {
  let refused = 0;
  fc.assert(
    fc.property(values, (value) => {
      // JSON.stringify escapes both, and a backslash of a text as two.
      const json = JSON.stringify(value).replaceAll('\\\\', '');
      const expected = !/\\u0000|\\ud[89a-f]/u.test(json);
      if (!expected) refused += 1;
      assert.equal(isStorable(value), expected);
    }),
    { numRuns: 500 },
  );
  assert.ok(refused > 20, `${refused} values were refused: the inputs do not cover both cases`);
});

test('examines a value that is nested deeper than the stack', () => {
  const depth = 1_000_000;
  let deep: unknown = 'x\0';
  for (let level = 0; level < depth; level++) deep = [deep];
  assert.equal(isStorable(deep), false);
});
