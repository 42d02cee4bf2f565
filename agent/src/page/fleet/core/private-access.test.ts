import assert from 'node:assert/strict';
import { test } from 'node:test';

import { queryPrivateAccess } from './private-access.ts';

test('reads the permission for private addresses; null where there is none', async () => {
  const names: string[] = [];
  const answer = (state: string) => ({
    query: async ({ name }: { readonly name: string }) => {
      names.push(name);
      return { state };
    },
  });
  assert.equal(await queryPrivateAccess(answer('denied')), 'denied');
  assert.equal(await queryPrivateAccess(answer('ask')), null);
  assert.deepEqual(names, ['local-network-access', 'local-network-access']);
  const unknown = { query: async () => Promise.reject(new TypeError('not a valid enum value')) };
  assert.equal(await queryPrivateAccess(unknown), null);
});
