import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { formatCsvLine } from './csv.ts';
import { escapeFormulas, unescapeFormulas } from './spreadsheet-formula.ts';

const LINE_BREAK = /^(?:\r\n|[\r\n\v\f\u0085\u2028\u2029])/u;

/**
 * Splits a file into cells as a spreadsheet with a separator does: quotes count at the beginning of a cell, and text after
 * the closing quote belongs to it.
 */
function splitCells(text: string, separator: string, honoursQuotes: boolean): string[] {
  const cells = [''];
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    const isAtStart = cells.at(-1) === '' && text[index - 1] !== '"';
    if (honoursQuotes && character === '"' && (isQuoted || isAtStart)) {
      if (isQuoted && text[index + 1] === '"') cells.push(`${cells.pop()}${text[++index]}`);
      else isQuoted = !isQuoted;
    } else if (!isQuoted && (character === separator || LINE_BREAK.test(character))) {
      cells.push('');
    } else {
      cells.push(`${cells.pop()}${character}`);
    }
  }
  return cells;
}

/** Whether a spreadsheet that ignores invisible characters and quotes, and normalizes the rest, reads a formula. */
function isFormula(cell: string): boolean {
  const visible = cell.normalize('NFKC').replace(/^[\s\p{Cc}\p{Cf}\p{DI}"]+/v, '');
  return /^[=+\-@]/u.test(visible);
}

const SEPARATORS = [',', ';', '\t', '|'];

const fragment = fc.oneof(
  fc.constantFrom('=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '=HYPERLINK("http://evil")'),
  fc.constantFrom(...SEPARATORS, '"', '""', "'", ' ', '\u200b', '\ufeff', '\u00a0', '\u3164'),
  fc.constantFrom('\n', '\r', '\r\n', '\v', '\f', '\u0085', '\u2028', '\u2029', '\u001b'),
  fc.constantFrom('a', 'é', '1', '😀'),
  fc.string({ unit: 'binary', maxLength: 3 }),
);
const hostile = fc.array(fragment, { maxLength: 8 }).map((parts) => parts.join(''));

test('no cell of a line is a formula, whichever separator a spreadsheet uses', () => {
  const lines = fc.array(fc.array(hostile, { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(lines, fc.constantFrom(...SEPARATORS), fc.boolean(), (rows, separator, honours) => {
      const file = rows.map(formatCsvLine).join('');
      for (const cell of splitCells(file, separator, honours)) {
        assert.ok(!isFormula(cell), JSON.stringify({ file, cell }));
      }
    }),
    { numRuns: 3_000 },
  );
});

test('an escaped text is read back unchanged', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      assert.equal(unescapeFormulas(escapeFormulas(text)), text);
    }),
    { numRuns: 3_000 },
  );
});

test('escapes a formula at the start and after each separator, line break and invisible character', () => {
  for (const [text, escaped] of [
    ['=1+1', "'=1+1"],
    ['x;=HYPERLINK("http://evil")', `x;'=HYPERLINK("http://evil")`],
    ['x,+1|-1\t@SUM(A1)', "x,'+1|'-1\t'@SUM(A1)"],
    ['x\u2028=1\n=1\r\n=1', "x\u2028'=1\n'=1\r\n'=1"],
    ['\u200b=1', "'\u200b=1"],
    ['x; \u00a0\ufeff＝1', "x;' \u00a0\ufeff＝1"],
    ['x;"=1"', `x;'"=1"`],
    ["'=1", "''=1"],
  ] as const) {
    assert.equal(escapeFormulas(text), escaped, text);
  }
});

test('leaves texts without formulas unchanged', () => {
  const texts = ['a=1', 'Jean-Luc; Picard', 'a@example.com,b@example.com', "it's", '; ', '1;2', ''];
  for (const text of texts) assert.equal(escapeFormulas(text), text);
});

test('escapes every character that normalizes to the beginning of a formula', () => {
  for (let code = 0; code <= 0x10_ff_ff; code++) {
    const character = String.fromCodePoint(code);
    if (/^[=+\-@]/u.test(character.normalize('NFKC'))) {
      assert.equal(escapeFormulas(character), `'${character}`, `U+${code.toString(16)}`);
    }
  }
});

test('takes time that is linear in the length of a text', () => {
  const texts = [' ', '"', "'", ';', '\t', '\n', '; ', ';"'].map((part) => part.repeat(500_000));
  // A quadratic expression takes minutes.
  const startedAt = performance.now();
  for (const text of texts) assert.equal(unescapeFormulas(escapeFormulas(text)), text);
  assert.ok(performance.now() - startedAt < 20_000);
});
