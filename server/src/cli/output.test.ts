import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFields, formatTable } from './output.ts';
import { cleanJson } from './terminal-text.ts';

test('tables and fields line up, with words for what is not text', () => {
  const moment = new Date('2026-01-02T03:04:05Z');
  assert.equal(
    formatTable(
      ['id', 'since'],
      [
        ['a', moment],
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

test('columns line up whatever script their cells are in', () => {
  const rows = ['アプリ', 'ｱﾌﾟﾘ', 'e\u0301t\u0301', '👩\u200d💻', 'שלום'].map((name) => [name, 1]);
  assert.deepEqual(formatTable(['name', 'n'], rows).split('\n').slice(1), [
    'アプリ  1',
    'ｱﾌﾟﾘ    1',
    'e\u0301t\u0301      1',
    '👩\u200d💻    1',
    'שלום    1',
  ]);
});

test('what strangers wrote cannot rewrite the terminal', () => {
  assert.equal(formatFields([['name', 'a\u001B[2Jb\nc\u0007']]), 'name  a·[2Jb·c·');
  assert.equal(formatFields([['name', 'a\u202Eb\u2066c\u2028d']]), 'name  a·b·c·d');
});

test('JSON holds what strangers wrote, and no terminal obeys it', () => {
  const strange = ['\u001B[2J', '\u009B2J', '\u007F', '\u202Eb', '\u2028', 'アプリ'];
  const json = cleanJson(JSON.stringify(strange));
  assert.deepEqual(JSON.parse(json), strange);
  assert.doesNotMatch(json, /[\p{Cc}\p{Zl}\u202E]/u);
});
