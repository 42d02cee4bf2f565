import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStorableText, isUuid } from './formats.ts';

test('accepts a UUID in the 8-4-4-4-12 form, in either case', () => {
  assert.equal(isUuid('8f14e45f-ceea-467f-a8f5-5d3b8a6e3c11'), true);
  assert.equal(isUuid('8F14E45F-CEEA-467F-A8F5-5D3B8A6E3C11'), true);
  assert.equal(isUuid('00000000-0000-0000-0000-000000000000'), true);
});

for (const text of [
  'urn:uuid:8f14e45f-ceea-467f-a8f5-5d3b8a6e3c11',
  '{8f14e45f-ceea-467f-a8f5-5d3b8a6e3c11}',
  '8f14e45fceea467fa8f55d3b8a6e3c11',
  '8f14e45f-ceea-467f-a8f5-5d3b8a6e3c1',
  '8f14e45f-ceea-467f-a8f5-5d3b8a6e3c1g',
  '8f14e45f-ceea-467f-a8f5-5d3b8a6e3c11\n',
  '',
]) {
  test(`rejects ${JSON.stringify(text)} as a UUID`, () => {
    assert.equal(isUuid(text), false);
  });
}

test('detects text that PostgreSQL cannot store', () => {
  assert.equal(isStorableText('Ünïcödé 🎉'), true);
  assert.equal(isStorableText(''), true);
  assert.equal(isStorableText('a\0b'), false);
  assert.equal(isStorableText('a\ud83c'), false);
  assert.equal(isStorableText('\udf89a'), false);
});
