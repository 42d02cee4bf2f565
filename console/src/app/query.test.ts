import assert from 'node:assert/strict';
import { test } from 'node:test';

import { addQuery, isSafeReturnPath, withQuery } from './query.ts';

test('changes and removes parameters, and keeps the others in their order', () => {
  const query = new URLSearchParams('search=a&sort=name&cursor=x');
  assert.equal(withQuery(query, { sort: '-name', cursor: null }), '?search=a&sort=-name');
  assert.equal(withQuery(query, { search: '', sort: null, cursor: null }), '');
  assert.equal(query.toString(), 'search=a&sort=name&cursor=x');
});

test('adds parameters to a path', () => {
  assert.equal(addQuery('/a', { b: 'c d', e: null }), '/a?b=c+d');
  assert.equal(addQuery('/a?x=1', { b: '&' }), '/a?x=1&b=%26');
});

test('returns only to paths of the console', () => {
  for (const path of ['/', '/licenses', '/licenses?search=a%20b&sort=-x', '/search?q=x//y']) {
    assert.equal(isSafeReturnPath(path), true, path);
  }
  for (const path of [
    '',
    'licenses',
    '//evil.example',
    '/\\evil.example',
    '/a\\b',
    'https://evil.example',
    'javascript:alert(1)',
    '/a b',
    '/\n/evil.example',
    '/sign-in',
    '/sign-in?next=/sign-in',
    '/welcome',
  ]) {
    assert.equal(isSafeReturnPath(path), false, path);
  }
});
