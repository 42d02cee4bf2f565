import assert from 'node:assert/strict';
import { test } from 'node:test';

import { matchPath } from './match-path.ts';

test('matches whole paths', () => {
  assert.deepEqual(matchPath('/licenses', '/licenses'), {});
  assert.deepEqual(matchPath('/licenses', '/licenses/'), {});
  assert.deepEqual(matchPath('/', '/'), {});
  assert.equal(matchPath('/licenses', '/licenses/1'), null);
  assert.equal(matchPath('/licenses/:id', '/licenses'), null);
  assert.equal(matchPath('/licenses/:id', '/licenses/'), null);
});

test('decodes parameters', () => {
  assert.deepEqual(matchPath('/a/:one/b/:two', '/a/x%2Fy/b/%C3%A9'), { one: 'x/y', two: 'é' });
  assert.equal(matchPath('/a/:one', '/a/%E0%A4%A'), null);
});
