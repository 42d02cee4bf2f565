import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';

import { formatCsvLine } from '#server/lib/csv.ts';

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

test('reads the texts of an export unchanged, also those with formulas', async () => {
  const texts = ['=1', "'=1", 'x;=1', 'x, -1|+1\t@a', 'x\n=1', '\u200b=1', "it's", 'a=1'];
  const file = ['license_key', ...texts].map((text) => formatCsvLine([text, 'b'])).join('');
  const records = await readAll(file.replace('license_key,b', 'customer_name,license_key'), 'csv');
  assert.deepEqual(
    records.map(({ record }) => record?.['customer_name']),
    texts,
  );
});

test('returns null and the line number for a line that is not an object', async () => {
  assert.deepEqual(await readAll('\n[]\n{"license_key":\n"A"\n{"license_key":"A"}', 'jsonl'), [
    { line: 2, record: null },
    { line: 3, record: null },
    { line: 4, record: null },
    { line: 5, record: { license_key: 'A' } },
  ]);
});
