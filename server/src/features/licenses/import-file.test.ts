import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';

import { readRecords } from './import-file.ts';

async function readAll(text: string, format: 'csv' | 'jsonl') {
  const records = [];
  for await (const record of readRecords(Readable.from([text]), format)) records.push(record);
  return records;
}

test('ignores a byte order mark before the first record', async () => {
  assert.deepEqual(await readAll('\uFEFF{"license_key":"A"}\r\n{"license_key":"B"}', 'jsonl'), [
    { line: 1, record: { license_key: 'A' } },
    { line: 2, record: { license_key: 'B' } },
  ]);
  assert.deepEqual(await readAll('\uFEFFlicense_key\r\nA\r\n', 'csv'), [
    { line: 2, record: { license_key: 'A' } },
  ]);
});

test('returns null and the line number for a line that is not an object', async () => {
  assert.deepEqual(await readAll('\n[]\n{"license_key":\n"A"\n{"license_key":"A"}', 'jsonl'), [
    { line: 2, record: null },
    { line: 3, record: null },
    { line: 4, record: null },
    { line: 5, record: { license_key: 'A' } },
  ]);
});
