import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { decodeText } from './decode-text.ts';
import { inChunks } from './read-fixture.fixture.ts';
import { readJson } from './read-json.ts';
import { readTable } from './read-table.ts';

const SEPARATORS = [',', ';', '\t'] as const;
const ENCODINGS = ['utf8', 'utf8-mark', 'utf16le', 'utf16be'] as const;

/** Cells of any text; an apostrophe at the start of a cell may be the escape of a formula. */
const cell = fc
  .string({ unit: 'grapheme', maxLength: 8 })
  .filter((text) => !/'/u.test(text) && !text.includes('\0'));

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

const chunkBytes = fc.integer({ min: 1, max: 50 });

function encode(text: string, encoding: (typeof ENCODINGS)[number]): Buffer {
  if (encoding === 'utf8') return Buffer.from(text);
  if (encoding === 'utf8-mark') return Buffer.from(`\uFEFF${text}`);
  const little = Buffer.from(`\uFEFF${text}`, 'utf16le');
  return encoding === 'utf16le' ? little : little.swap16();
}

test('reads every cell of a table, whatever its separator, encoding, quotes and line breaks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 8 }),
      fc.constantFrom(...SEPARATORS),
      fc.constantFrom(...ENCODINGS),
      fc.constantFrom('\n', '\r\n', '\r'),
      chunkBytes,
      async (rows, separator, encoding, lineBreak, bytes) => {
        const lines = [['a', 'b;,x', 'c'].map(quote), ...rows.map((row) => row.map(quote))].map(
          (line) => line.join(separator),
        );
        const file = inChunks(encode(lines.join(lineBreak), encoding), bytes);
        const read = await Array.fromAsync(readTable(decodeText(file()), () => null));
        assert.deepEqual(
          read.map((row) => ('record' in row ? row.record : row.problem)),
          rows
            .filter((cells) => cells.some((text) => text.trim() !== ''))
            .map(([a, b, c]) => ({ c, 'b;,x': b, a })),
        );
      },
    ),
    { numRuns: 300 },
  );
});

const record = fc.dictionary(
  fc.constantFrom('id', 'key', 'list', 'nested', 'text'),
  fc.jsonValue({ maxDepth: 3 }),
  { minKeys: 1 },
);

/** The ways in which an interface and its users put records into a file. */
const CONTAINERS: readonly ((records: readonly object[]) => string)[] = [
  (records) => JSON.stringify(records),
  (records) => JSON.stringify({ jsonapi: { version: '1.0' }, data: records, meta: { page: [] } }),
  (records) => JSON.stringify({ success: true, data: records }, null, 2),
  (records) => JSON.stringify([{ data: records, links: { next: '{[' } }]),
  (records) => records.map((each) => `${JSON.stringify({ data: [each] })}\n`).join(''),
  (records) => records.map((each) => JSON.stringify(each)).join('\n'),
];

test('reads every record of a JSON file, whatever contains them, in chunks of any length', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { maxLength: 8 }),
      fc.constantFrom(...CONTAINERS),
      chunkBytes,
      async (records, contain, bytes) => {
        const file = inChunks(contain(records), bytes);
        const read = await Array.fromAsync(readJson(decodeText(file())));
        assert.deepEqual(
          read.map((row) => ('record' in row ? row.record : row.problem)),
          JSON.parse(JSON.stringify(records)),
        );
      },
    ),
    { numRuns: 200 },
  );
});

test('fails with a sentence, and never otherwise, for any bytes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), chunkBytes, async (content, bytes) => {
      for (const read of [readJson, (text: AsyncIterable<string>) => readTable(text, () => null)]) {
        try {
          const file = inChunks(Buffer.from(content), bytes);
          await Array.fromAsync(read(decodeText(file())));
        } catch (error) {
          assert.ok(error instanceof Error && error.name === 'ImportFileError', String(error));
        }
      }
    }),
    { numRuns: 500 },
  );
});
