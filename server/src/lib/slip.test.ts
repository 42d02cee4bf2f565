import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { findSlip } from './slip.ts';

const known = ['id', 'name', 'tier', 'features', 'max_activations'];

test('a name one or two letters away is recognised', () => {
  assert.equal(findSlip('featurs', known), 'features');
  assert.equal(findSlip('feature', known), 'features');
  assert.equal(findSlip('max_activatoins', known), 'max_activations');
  assert.equal(findSlip('nam', known), 'name');
});

test('a different word is not taken for a slip', () => {
  assert.equal(findSlip('color', known), undefined);
  assert.equal(findSlip('time', known), undefined);
  assert.equal(findSlip('x', known), undefined);
  assert.equal(findSlip('max_machines', known), undefined);
});
