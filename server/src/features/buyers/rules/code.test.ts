import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createVault } from '#server/lib/vault.ts';

import { deriveCode, formatCode, readCode } from './code.ts';

const vault = createVault('a master secret for the tests alone');
const hash = 'ab'.repeat(32);

test('a code has six symbols, and depends on the token and the master secret', () => {
  const code = deriveCode(vault, hash);
  assert.match(code, /^[0-9A-HJKMNP-TV-Z]{6}$/u);
  assert.equal(deriveCode(vault, hash), code);
  assert.notEqual(deriveCode(vault, 'ac'.repeat(32)), code);
  assert.notEqual(deriveCode(createVault('another master secret of the tests'), hash), code);
});

test('codes are spread over all symbols', () => {
  const seen = new Set<string>();
  for (let count = 0; count < 300; count += 1) {
    for (const symbol of deriveCode(vault, String(count))) seen.add(symbol);
  }
  assert.equal(seen.size, 32);
});

test('reads a code as people type it', () => {
  assert.equal(readCode(formatCode('K7M1Q0')), 'K7M1Q0');
  for (const typed of ['k7m1q0', ' K7M 1Q0 ', 'K7M-1Q0', 'k7mLqO', 'K7MIQ0', 'K7M–1Q0']) {
    assert.equal(readCode(typed), 'K7M1Q0', typed);
  }
});

test('refuses what cannot be a code', () => {
  for (const typed of ['', 'K7M1Q', 'K7M1Q00', 'K7M1QU', 'ÄÄÄÄÄÄ', '😀😀😀']) {
    assert.equal(readCode(typed), null, typed);
  }
});
