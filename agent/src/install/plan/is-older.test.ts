import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EQUAL, VERSIONS } from '../../../test/version-order.ts';
import { isOlder } from './is-older.ts';

test('compares versions by the order of semver.org', () => {
  for (const [at, one] of VERSIONS.entries())
    for (const [index, other] of VERSIONS.entries())
      assert.equal(isOlder(one, other), at < index, `${one} < ${other}`);
});

test('finds neither of two equal versions older', () => {
  for (const [one, other] of EQUAL)
    assert.deepEqual([isOlder(one, other), isOlder(other, one)], [false, false], `${one} ${other}`);
});
