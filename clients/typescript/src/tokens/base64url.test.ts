import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decodeBase64url, encodeBase64url, encodeText } from './base64url.ts';

test('encodes as Node.js does', () => {
  for (const length of [0, 1, 2, 3, 255]) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 7 + 250) % 256);
    assert.equal(encodeBase64url(bytes), Buffer.from(bytes).toString('base64url'));
  }
  assert.equal(encodeText('Ä€🔑'), Buffer.from('Ä€🔑').toString('base64url'));
});

test('decodes what it encodes', () => {
  const bytes = Uint8Array.of(251, 255, 191, 0);
  assert.deepEqual(decodeBase64url(encodeBase64url(bytes)), bytes);
});

test('rejects every other spelling', () => {
  for (const text of ['', 'AA==', 'AA\n', 'A', '+/8', 'AB', 'AAB', 'ä', 'AAAAA']) {
    assert.equal(decodeBase64url(text), null, text);
  }
});
