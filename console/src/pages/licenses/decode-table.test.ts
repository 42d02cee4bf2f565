import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decodeTable } from './decode-table.ts';

const TEXT = 'license_key,customer_name\nA,J\u00f6rg';

function toContent(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

test('decodes the encodings in which spreadsheets save tables', () => {
  const little = Buffer.from(`\uFEFF${TEXT}`, 'utf16le');
  for (const bytes of [
    Buffer.from(TEXT),
    Buffer.from(`\uFEFF${TEXT}`),
    little,
    Buffer.from(little).swap16(),
  ]) {
    assert.equal(decodeTable(toContent(bytes)), TEXT);
  }
  assert.equal(decodeTable(new ArrayBuffer(0)), '');
});

test('fails instead of losing letters of another encoding', () => {
  assert.throws(() => decodeTable(toContent(Buffer.from(TEXT, 'latin1'))), TypeError);
});
