import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import * as fc from 'fast-check';

import { loadCatalog } from '#server/config/catalog.ts';
import { createVault } from '#server/lib/vault.ts';

import { sealLicenseKey } from './license-key.ts';

const catalog = loadCatalog(
  fileURLToPath(new URL('../../../../catalog.example.yaml', import.meta.url)),
);
const context = { catalog: () => catalog, vault: createVault(randomBytes(32)) };

function hintOf(key: string): string {
  return sealLicenseKey(context, 'license', key).keyHint;
}

test('shows the last symbols of a key, at most a quarter of it and at most four', () => {
  assert.equal(hintOf('SHOP-20230001'), '01');
  fc.assert(
    fc.property(fc.stringMatching(/^Z[0-9A-Z]{3,60}$/), (key) => {
      const hint = hintOf(key);
      assert.ok(key.endsWith(hint), hint);
      assert.ok(hint.length <= Math.min(4, key.length / 4), `${hint} of ${key}`);
    }),
  );
});

test('shows nothing of a key of three symbols', () => {
  assert.equal(hintOf('ABC'), '');
});
