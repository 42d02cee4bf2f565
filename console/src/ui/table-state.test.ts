import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  exportPath,
  inAddress,
  nextSort,
  pagePath,
  readTableState,
  sortDirection,
} from './table-state.ts';

const query = new URLSearchParams('search=a&status=&tab=x&sort=-name&cursor=c');
const state = readTableState(query, ['search', 'status']);

test('reads only its own parameters from the address', () => {
  assert.deepEqual(state, { prefix: '', filters: { search: 'a' }, sort: '-name', cursor: 'c' });
});

test('two lists on a page have their own parameters', () => {
  const both = new URLSearchParams('search=a&cursor=c&other-search=b&other-sort=name');
  const other = readTableState(both, ['search'], 'other-');
  const filters = { search: 'b' };
  assert.deepEqual(other, { prefix: 'other-', filters, sort: 'name', cursor: '' });
  const changes = { search: null, cursor: 'd' };
  assert.deepEqual(inAddress(other, changes), { 'other-search': null, 'other-cursor': 'd' });
  assert.deepEqual(inAddress(state, changes), changes);
});

test('asks for a page with search, order and cursor', () => {
  const path = pagePath('/list', state, { license: '1' }, 20);
  assert.equal(path, '/list?search=a&sort=-name&cursor=c&limit=20&license=1');
});

test('exports what is filtered, without the page', () => {
  assert.equal(exportPath('/list/export', state), '/list/export?search=a&sort=-name');
});

test('a second click on a heading reverses the order', () => {
  assert.equal(nextSort('', 'name', 'ascending'), 'name');
  assert.equal(nextSort('name', 'name', 'ascending'), '-name');
  assert.equal(nextSort('-name', 'name', 'ascending'), 'name');
  assert.equal(nextSort('name', 'created_at', 'descending'), '-created_at');
  assert.deepEqual(
    ['name', '-name', ''].map((sort) => sortDirection(sort, 'name')),
    ['ascending', 'descending', undefined],
  );
});
