import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { findClosestName } from './closest-name.ts';

const known = ['id', 'name', 'tier', 'features', 'max_activations'];

test('finds a name at most two edits away', () => {
  assert.equal(findClosestName('featurs', known), 'features');
  assert.equal(findClosestName('feature', known), 'features');
  assert.equal(findClosestName('max_activatoins', known), 'max_activations');
  assert.equal(findClosestName('nam', known), 'name');
});

test('finds none for another word', () => {
  assert.equal(findClosestName('color', known), undefined);
  assert.equal(findClosestName('time', known), undefined);
  assert.equal(findClosestName('x', known), undefined);
  assert.equal(findClosestName('max_machines', known), undefined);
});
