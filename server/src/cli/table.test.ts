import assert from 'node:assert/strict';
import { test } from 'node:test';

import { formatFields, formatTable } from './table.ts';
import { cleanJson, widthOf } from './terminal-text.ts';

const header = ['when', 'actor', 'reason'];
const entries = [
  ['2026-11-22 12:00 UTC', 'cli:root sudo:anna login:anna', 'asked for by phone '.repeat(9)],
];

const widest = (table: string) => Math.max(...table.split('\n').map(widthOf));

test('fits a table into the terminal without shortening its first column', () => {
  for (const width of [60, 80, 120]) {
    const table = formatTable(header, entries, width);
    assert.ok(widest(table) <= width && widest(table) > width - 4, `${widest(table)} of ${width}`);
    assert.match(table, /^2026-11-22 12:00 UTC  /mu);
    assert.match(table, /…/u);
  }
});

test('does not shorten a table that fits or is not printed on a terminal', () => {
  for (const width of [1_000, undefined]) {
    const table = formatTable(header, entries, width);
    assert.match(table, /cli:root sudo:anna login:anna  (?:asked for by phone ?){9}$/mu);
  }
});

test('keeps a minimum width of each column on a narrow terminal', () => {
  assert.match(formatTable(header, entries, 20), /^2026-11-22 12:00 UTC  cli:roo…  asked f…$/mu);
});

test('aligns tables and fields, with text for dates, booleans and null', () => {
  const timestamp = new Date('2026-01-02T03:04:05Z');
  assert.equal(
    formatTable(
      ['id', 'since'],
      [
        ['a', timestamp],
        ['longer', null],
      ],
    ),
    'ID      SINCE\na       2026-01-02 03:04 UTC\nlonger  –',
  );
  assert.equal(
    formatFields([
      ['a', true],
      ['bcd', 0],
    ]),
    'a    yes\nbcd  0',
  );
});

test('aligns columns of any script', () => {
  const rows = ['アプリ', 'ｱﾌﾟﾘ', 'e\u0301t\u0301', '👩\u200d💻', 'שלום'].map((name) => [name, 1]);
  assert.deepEqual(formatTable(['name', 'n'], rows).split('\n').slice(1), [
    'アプリ  1',
    'ｱﾌﾟﾘ    1',
    'e\u0301t\u0301      1',
    '👩\u200d💻    1',
    'שלום    1',
  ]);
});

test('replaces control characters of stored text', () => {
  assert.equal(formatFields([['name', 'a\u001B[2Jb\nc\u0007']]), 'name  a·[2Jb·c·');
  assert.equal(formatFields([['name', 'a\u202Eb\u2066c\u2028d']]), 'name  a·b·c·d');
});

test('escapes control characters in JSON', () => {
  const strange = ['\u001B[2J', '\u009B2J', '\u007F', '\u202Eb', '\u2028', 'アプリ'];
  const json = cleanJson(JSON.stringify(strange));
  assert.deepEqual(JSON.parse(json), strange);
  assert.doesNotMatch(json, /[\p{Cc}\p{Zl}\u202E]/u);
});
