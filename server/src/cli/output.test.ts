import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFields, formatTable } from './output.ts';

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

test('what strangers wrote cannot rewrite the terminal', () => {
  assert.equal(formatFields([['name', 'a\u001B[2Jb\nc\u0007']]), 'name  a·[2Jb·c·');
});
