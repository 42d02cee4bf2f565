import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

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

/** Counts the bytes that methods of all buffers go through. A time would depend on what else the machine does. */
function countBytes(t: TestContext, name: 'copy' | 'indexOf' | 'lastIndexOf'): () => number {
  let bytes = 0;
  const method: (...args: unknown[]) => number = Reflect.get(Buffer.prototype, name);
  t.mock.method(Buffer.prototype, name, function count(this: Buffer, ...args: unknown[]): number {
    bytes += this.length;
    return Reflect.apply(method, this, args);
  });
  return () => bytes;
}

test('copies and searches each byte of a row a constant number of times', async (t) => {
  const counts = (['copy', 'indexOf', 'lastIndexOf'] as const).map((name) => countBytes(t, name));
  await assert.rejects(new RowReader(endlessRow(60, { bytes: 0 })).readRows(), /ends too early/u);
  const [copied, ...searched] = counts.map((count) => count() / 1024 / 1024);
  // Each chunk is copied once, and the buffer whenever it doubles. Searching it all for each chunk would be 7,000 MiB.
  assert.ok(copied !== undefined && copied >= 60 && copied < 4 * 60, `${copied} MiB copied`);
  for (const mib of searched) assert.ok(mib >= 59 && mib < 70, `${mib} MiB searched`);
});
