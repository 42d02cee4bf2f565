import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decideVerdict, describeUnsent } from './verdict.ts';

const kept = { broken: [], day: { planned: 1_000, unsent: 50 }, isStopped: false };

test('is kept while at most a twentieth of the planned requests was not sent', () => {
  assert.equal(decideVerdict(kept), 'kept');
  assert.equal(decideVerdict({ ...kept, day: { planned: 1_000, unsent: 51 } }), 'incomplete');
});

test('a broken promise counts more than what was not sent', () => {
  const day = { planned: 1_000, unsent: 900 };
  assert.equal(decideVerdict({ ...kept, day, broken: ['1 event is lost'] }), 'broken');
});

test('a stopped run proves nothing', () => {
  assert.equal(decideVerdict({ ...kept, isStopped: true }), 'stopped');
});

test('describes what was not sent', () => {
  assert.equal(describeUnsent({ planned: 12_000, unsent: 1_234 }), '1,234 of 12,000 (10.3 %)');
  assert.equal(describeUnsent({ planned: 0, unsent: 0 }), '0 of 0 (0.0 %)');
});
