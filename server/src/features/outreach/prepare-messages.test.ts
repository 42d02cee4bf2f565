import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { planMessages } from './prepare-messages.ts';

const toRecipients = (hashes: readonly string[]) => hashes.map((addressHash) => ({ addressHash }));

test('of the same address the first is written to, and none that wants no mail', () => {
  assert.deepEqual(planMessages(toRecipients(['a', 'b', 'a', 'c', 'b', 'd']), new Set(['b'])), [
    null,
    'suppressed',
    'duplicate',
    null,
    'duplicate',
    null,
  ]);
});

test('whoever is given, each has one decision in its place, and each wanted address one message', () => {
  const hash = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  fc.assert(
    fc.property(fc.array(hash), fc.uniqueArray(hash), (hashes, unwanted) => {
      const plan = planMessages(toRecipients(hashes), new Set(unwanted));
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
