import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findBuyerPage } from './buyer-page.ts';

test('is linked where browsers of buyers can open it: over https', () => {
  for (const [publicUrl, page] of [
    ['https://license.example.com', 'https://license.example.com/my'],
    ['http://127.0.0.1:8080', null],
    ['http://license.example.com', null],
  ] as const) {
    const http = { host: 'localhost', port: 8080, publicUrl, trustedProxies: [] };
    assert.equal(findBuyerPage({ http }), page);
  }
});
