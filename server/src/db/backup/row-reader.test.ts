import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { RowReader } from './row-reader.ts';

async function* chunksOf(text: string, sizes: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const end = at + (sizes[turn % sizes.length] ?? 1);
    yield bytes.subarray(at, end);
    at = end;
  }
}

async function readAllRows(reader: RowReader): Promise<string> {
  const blocks: Buffer[] = [];
  for (let block = await reader.readRows(); block !== null; block = await reader.readRows()) {
    assert.equal(block.at(-1), 0x0a, 'a block ends with a whole row');
    blocks.push(block);
  }
  return Buffer.concat(blocks).toString();
}

/** Rows as COPY writes them: a backslash is doubled, so that none is the end. */
const rows = fc.array(fc.stringMatching(/^(\\\\|[a.ü\t])*$/u), { maxLength: 6 });

test('separates lines and rows, wherever the chunks end', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(rows, rows, sizes, async (first, second, chunkSizes) => {
      const [one, two] = [first, second].map((list) => list.map((row) => `${row}\n`).join(''));
      const reader = new RowReader(
        chunksOf(`head\n${one}\\.\nmiddle\n${two}\\.\nend\n`, chunkSizes),
      );
      assert.equal(await reader.readLine(), 'head');
      assert.equal(await readAllRows(reader), one);
      assert.equal(await reader.readLine(), 'middle');
      assert.equal(await readAllRows(reader), two);
      assert.equal(await reader.readLine(), 'end');
      assert.equal(await reader.readLine(), null);
    }),
  );
});

test('rejects text that ends within rows or within a line', async () => {
  for (const text of ['a\nb\n', 'a\n\\.', 'a\nb', '']) {
    const reader = new RowReader(chunksOf(text, [2]));
    await assert.rejects(readAllRows(reader), /ends too early/u, text);
  }
  await assert.rejects(new RowReader(chunksOf('half', [2])).readLine(), /ends within a line/u);
});

/** A text without line breaks, in blocks as the decompression returns them. */
async function* endlessRow(mib: number, read: { bytes: number }): AsyncGenerator<Buffer> {
  const block = Buffer.alloc(256 * 1024, 'x');
  for (; read.bytes < mib * 1024 * 1024; read.bytes += block.length) yield block;
}

test('refuses a row of more than 64 MiB without reading on, and a line of more than 16 MiB', async () => {
  const row = { bytes: 0 };
  const reader = new RowReader(endlessRow(600, row));
  await assert.rejects(reader.readRows(), /a row is longer than 64 MiB/u);
  assert.ok(row.bytes <= 65 * 1024 * 1024, `read ${row.bytes} bytes`);
  const line = { bytes: 0 };
  const lines = new RowReader(endlessRow(600, line));
  await assert.rejects(lines.readLine(), /a line is longer than 16 MiB/u);
  assert.ok(line.bytes <= 17 * 1024 * 1024, `read ${line.bytes} bytes`);
});

/** Returns the processor time of reading a row, in milliseconds. */
async function measure(mib: number): Promise<number> {
  const before = process.cpuUsage();
  await assert.rejects(new RowReader(endlessRow(mib, { bytes: 0 })).readRows(), /ends too early/u);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The least of some readings: a collection of garbage takes longer than a row. */
async function measureLeast(mib: number): Promise<number> {
  const readings = [await measure(mib), await measure(mib), await measure(mib)];
  return Math.min(...readings);
}

test('reads a row of 60 MiB in time that grows with its length', async () => {
  await measure(15);
  const [short, long] = [await measureLeast(15), await measureLeast(60)];
  // Four times the length; the quadratic time would be 16 times as long.
  assert.ok(long < 10 * short + 50, `${short} ms for 15 MiB, ${long} ms for 60 MiB`);
});
