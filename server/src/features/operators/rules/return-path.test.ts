import assert from 'node:assert/strict';
import { test } from 'node:test';

import { addProblem, isConsolePath } from './return-path.ts';

test('accepts the pages of the console with their query', () => {
  for (const path of [
    '/console',
    '/console/',
    '/console?x=1',
    '/console/licenses/0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d',
    '/console/licenses?search=anna%40example.com&sort=-created_at',
    '/console/machine?id=m%2F%2F1',
  ]) {
    assert.equal(isConsolePath(path), true, path);
  }
});

test('accepts no other host, no other path, and no other spelling of one', () => {
  for (const path of [
    '',
    '/',
    'console/licenses',
    '/consoles',
    '/api/v1/admin/session',
    'https://evil.example/console',
    'https:/console',
    'javascript:alert(1)',
    '//evil.example/console',
    '//evil.example',
    '/console//evil.example',
    '/console?next=//evil.example',
    '/\\evil.example',
    '/console\\evil.example',
    '/console/../api',
    '/console/%2e%2e/api',
    '/console/./licenses',
    '/\t/evil.example',
    '/console\r\nset-cookie: a=b',
    ' /console',
    '/console ',
    '/console#token',
    '/console@evil.example',
    '/console/\u0000',
    '/console/ä',
  ]) {
    assert.equal(isConsolePath(path), false, JSON.stringify(path));
  }
});

test('adds the problem to the query', () => {
  assert.equal(addProblem('/console/sign-in', 'provider'), '/console/sign-in?problem=provider');
  assert.equal(
    addProblem('/console/sign-in?next=%2Fx&problem=old', 'provider'),
    '/console/sign-in?next=%2Fx&problem=provider',
  );
});
