import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findUnnamed } from './document-policy.ts';

test('finds the addresses that the policy of the document does not name', () => {
  const policy =
    "connect-src 'self' wss://nas:4096 https://nas:4096 wss://10.0.0.7:443 https://10.0.0.7:443";
  const addresses = ['nas', 'nas:4097', '10.0.0.7', '10.0.0.7:443', '10.0.0.7/latchkey', 'na'];
  assert.deepEqual(findUnnamed(addresses, policy), ['nas:4097', '10.0.0.7', 'na']);
  assert.deepEqual(findUnnamed(['nas'], null), ['nas']);
  assert.deepEqual(findUnnamed([], null), []);
});
