import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readSearch } from './read-search.ts';

const ID = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';

test('reads the end of a masked key', () => {
  for (const text of ['…9K2M', 'LK-…-9K2M', 'LK-*****-9K2M', 'LK ••••9K2M', '...9K2M', ' 9K2M ']) {
    assert.equal(readSearch(text)?.keyHint, '9K2M', text);
  }
  for (const text of ['LK-AAAAA', 'LK-…-9K2MX', '…', 'ada@example.com']) {
    assert.equal(readSearch(text)?.keyHint ?? null, null, text);
  }
});

test('reads whole UUIDs and their first digits, in any case, with or without hyphens', () => {
  for (const text of [ID, ID.toUpperCase(), ID.replaceAll('-', '')]) {
    assert.deepEqual(readSearch(text)?.uuids, { from: ID, to: ID }, text);
  }
  assert.deepEqual(readSearch('0190a6b2-7c')?.uuids, {
    from: '0190a6b2-7c00-0000-0000-000000000000',
    to: '0190a6b2-7cff-ffff-ffff-ffffffffffff',
  });
  for (const text of ['0190a6b', 'ghijklmn', `${ID}0`, '0190a6b2_7c']) {
    assert.equal(readSearch(text)?.uuids, null, text);
  }
});

test('reads the beginning of an address in lower case', () => {
  assert.deepEqual(readSearch('Ada@Ex')?.addresses, { from: 'ada@ex', until: 'ada@ex\u{10FFFF}' });
  for (const text of ['Ada Lovelace', 'a'.repeat(255)]) {
    assert.equal(readSearch(text)?.addresses, null, text);
  }
});

test('reads no text that is too short', () => {
  for (const text of ['', ' ', 'a', ' é ']) assert.equal(readSearch(text), null);
});
