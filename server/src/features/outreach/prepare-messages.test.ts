import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { excludeRecipients } from './prepare-messages.ts';

test('selects the first recipient of each address that is not suppressed', () => {
  assert.deepEqual(excludeRecipients(['a', 'b', 'a', 'c', 'b', 'd'], new Set(['b'])), [
    null,
    'suppressed',
    'duplicate',
    null,
    'duplicate',
    null,
  ]);
});

test('returns one decision per recipient, and selects each address once', () => {
  const hash = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  fc.assert(
    fc.property(fc.array(hash), fc.uniqueArray(hash), (hashes, unwanted) => {
      const plan = excludeRecipients(hashes, new Set(unwanted));
      assert.equal(plan.length, hashes.length);
      const written = hashes.filter((_, index) => plan[index] === null);
      const wanted = [...new Set(hashes)].filter((each) => !unwanted.includes(each));
      assert.deepEqual(written, wanted);
      for (const [index, each] of hashes.entries()) {
        const isFirst = hashes.indexOf(each) === index;
        assert.equal(plan[index] === 'duplicate', !isFirst);
        assert.equal(plan[index] === 'suppressed', isFirst && unwanted.includes(each));
      }
    }),
  );
});
