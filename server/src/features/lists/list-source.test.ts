import assert from 'node:assert/strict';
import { test } from 'node:test';

import { trials } from '@latchkey/contract';

import { readSelection } from './list-source.ts';
import { readColumns } from './read-columns.ts';

test('a selection is the filters and the trimmed search of a query, without its page and order', () => {
  const query = {
    state: 'running',
    search: ' 4c4c ',
    sort: '-created_at',
    limit: '50',
    cursor: 'x',
  };
  assert.deepEqual(readSelection(trials, { query }), { state: 'running', search: '4c4c' });
});

test('a selection below a resource has the parameters of the path', () => {
  const request = { params: { id: 'a' }, query: { state: 'running' } };
  assert.deepEqual(readSelection(trials, request), { id: 'a', state: 'running' });
});

test('a search of blanks selects everything', () => {
  assert.deepEqual(readSelection(trials, { query: { search: '  ' } }), {});
});

test('a cell is a plain value of an item, at the end of its path also through a list, or an object as JSON', () => {
  const item = {
    id: 'a',
    count: 3,
    open: false,
    tags: ['x', 'y'],
    products: [{ id: 'p' }, { id: null }, { id: 'q' }],
    owner: { email: null },
    none: null,
    details: { version: 2 },
  };
  const columns = readColumns([
    'id',
    'count',
    'open',
    'tags',
    'products.id',
    'owner.email',
    'none.email',
    'details',
    'id as item_id',
  ]);
  assert.deepEqual(Object.keys(columns), [
    'id',
    'count',
    'open',
    'tags',
    'products_id',
    'owner_email',
    'none_email',
    'details',
    'item_id',
  ]);
  assert.deepEqual(
    Object.values(columns).map((read) => read(item)),
    ['a', 3, false, 'x y', 'p q', null, null, '{"version":2}', 'a'],
  );
  assert.equal(readColumns(['tags'], ',')['tags']?.(item), 'x,y');
});
