import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fitTable } from './table.ts';
import { widthOf } from './terminal-text.ts';

const header = ['when', 'actor', 'reason'];
const rows = [
  ['2026-11-22 12:00 UTC', 'cli:root sudo:anna login:anna', 'asked for by phone '.repeat(9)],
];

const widest = (table: string) => Math.max(...table.split('\n').map(widthOf));

test('a table is as wide as the terminal, and its first column stays whole', () => {
  for (const width of [60, 80, 120]) {
    const table = fitTable(header, rows, width);
    assert.ok(widest(table) <= width && widest(table) > width - 4, `${widest(table)} of ${width}`);
    assert.match(table, /^2026-11-22 12:00 UTC  /mu);
    assert.match(table, /…/u);
  }
});

test('a table is not shortened where it fits, nor where the output is no terminal', () => {
  for (const width of [1_000, undefined]) {
    const table = fitTable(header, rows, width);
    assert.match(table, /cli:root sudo:anna login:anna  (?:asked for by phone ?){9}$/mu);
  }
});

test('a table keeps something of every column in a terminal that is too narrow for it', () => {
  assert.match(fitTable(header, rows, 20), /^2026-11-22 12:00 UTC  cli:roo…  asked f…$/mu);
});
