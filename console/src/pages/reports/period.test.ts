import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readPeriod, relativeChange } from './period.ts';

const NOW_MS = Date.parse('2026-11-22T23:30:00Z');

function read(query: string) {
  const { days, from, to } = readPeriod(new URLSearchParams(query), NOW_MS);
  return [days, from, to];
}

test('covers the last 30 days, and other numbers of days on request', () => {
  assert.deepEqual(read(''), [30, '2026-10-24', '2026-11-22']);
  assert.deepEqual(read('days=7'), [7, '2026-11-16', '2026-11-22']);
  assert.deepEqual(read('days=8'), [30, '2026-10-24', '2026-11-22']);
});

test('covers chosen days, unless they are invalid or in the wrong order', () => {
  assert.deepEqual(read('from=2026-01-01&to=2026-01-31'), [null, '2026-01-01', '2026-01-31']);
  assert.deepEqual(read('days=7&from=2026-02-01&to=2026-01-31'), [7, '2026-11-16', '2026-11-22']);
  assert.deepEqual(read('from=2026-01-01&to=x'), [30, '2026-10-24', '2026-11-22']);
});

test('compares with the previous period', () => {
  assert.equal(relativeChange(150, 100), 0.5);
  assert.equal(relativeChange(150, 0), null);
});
