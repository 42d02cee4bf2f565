import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { CsvSyntaxError, formatCsvLine, readCsv } from './csv.ts';

async function* piecesOf(text: string, length: number): AsyncGenerator<string> {
  for (let start = 0; start < text.length; start += length) yield text.slice(start, start + length);
}

async function readAll(text: string, pieceLength = 7) {
  const records = [];
  for await (const record of readCsv(piecesOf(text, pieceLength))) records.push(record);
  return records;
}

test('quotes cells where needed, and escapes formulas', () => {
  const timestamp = new Date('2026-01-02T03:04:05Z');
  assert.equal(
    formatCsvLine(['a', 'b,c', 'say "hi"', 'two\nlines', null, -1, true, timestamp]),
    'a,"b,c","say ""hi""","two\nlines",,-1,true,2026-01-02T03:04:05.000Z\r\n',
  );
  assert.equal(
    formatCsvLine(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '=HYPERLINK("a","b")']),
    `'=1+1,'+1,'-1,'@SUM(A1),\tx,"'=HYPERLINK(""a"",""b"")"\r\n`,
  );
  assert.equal(
    formatCsvLine(['\n=1', '\r=1', '＝1', '＋1', '－1', '＠SUM(A1)', 'a＝1']),
    `"\n'=1","\r'=1",'＝1,'＋1,'－1,'＠SUM(A1),a＝1\r\n`,
  );
});

test('replaces control characters', () => {
  const cells = ['\u001b[2Ja', 'b\u0007', '\u009b2J', '\u007f', 'tab\tstays'];
  assert.equal(formatCsvLine(cells), '·[2Ja,b·,·2J,·,tab\tstays\r\n');
});

test('returns the first line of each record, across quoted line breaks, empty lines and all kinds of line breaks', async () => {
  assert.deepEqual(await readAll('\uFEFFa,b\r\n"x\r\ny","say ""hi"""\n\r\n1,\r2,"3"'), [
    { line: 1, cells: ['a', 'b'] },
    { line: 2, cells: ['x\r\ny', 'say "hi"'] },
    { line: 5, cells: ['1', ''] },
    { line: 6, cells: ['2', '3'] },
  ]);
});

test('keeps quotes within a cell, and text after a closing quote', async () => {
  assert.deepEqual(await readAll('a"b","c"d,""e\n"f\r\ng\rh",\ni'), [
    { line: 1, cells: ['a"b"', 'cd', 'e'] },
    { line: 2, cells: ['f\r\ng\rh', ''] },
    { line: 5, cells: ['i'] },
  ]);
});

test('reads what formatCsvLine wrote, in chunks of any length', async () => {
  const cell = fc
    .string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é', '😀') })
    .filter((text) => !/^[\t\r\n]/u.test(text));
  const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 1, max: 5 }), async (table, pieceLength) => {
      const text = table.map((row) => formatCsvLine(row)).join('');
      const read = await readAll(text, pieceLength);
      assert.deepEqual(
        read.map((record) => record.cells),
        table,
      );
    }),
  );
});

test('reports the line of a quote that is not closed, after the records before it', async () => {
  for (const text of ['a,b\nc,"d\ne\n', 'a,b\nc,"""']) {
    const records: (readonly string[])[] = [];
    const read = async () => {
      for await (const { cells } of readCsv(piecesOf(text, 100))) records.push(cells);
    };
    await assert.rejects(read, (error) => {
      assert.ok(error instanceof CsvSyntaxError);
      assert.deepEqual([error.line, error.message], [2, 'a quote is not closed']);
      return true;
    });
    assert.deepEqual(records, [['a', 'b']]);
  }
});

test('rejects a record of more than a million characters', async () => {
  await assert.rejects(readAll(`a\n"${'x'.repeat(1_100_000)}`, 65_536), /too long/u);
});

test('rejects a record of more than ten thousand cells', async () => {
  const longest = ','.repeat(9_999);
  const [record] = await readAll(longest, 65_536);
  assert.equal(record?.cells.length, 10_000);
  await assert.rejects(readAll(`a\n${longest},`, 65_536), (error) => {
    assert.ok(error instanceof CsvSyntaxError);
    assert.deepEqual([error.line, error.message], [2, 'the record has more than 10000 cells']);
    return true;
  });
});
