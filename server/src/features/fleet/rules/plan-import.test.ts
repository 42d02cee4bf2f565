import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readEntry } from './entry.ts';
import { findRepeated, planImport } from './plan-import.ts';

const entry = (name: string, address: string, labels: readonly string[] = []) => ({
  name,
  address,
  labels,
});

test('adds new addresses, and changes listed ones with another name or other labels', () => {
  const listed = [entry('a', 'a.example'), entry('b', 'b.example', ['x']), entry('c', 'c.example')];
  const same = entry('a', 'a.example');
  const relabelled = entry('b', 'b.example', ['y']);
  const renamed = entry('C', 'c.example');
  const added = entry('d', 'd.example');
  assert.deepEqual(planImport(listed, [added, renamed, same, relabelled]), {
    added: [added],
    changed: [renamed, relabelled],
    unchanged: 1,
  });
});

test('finds the first repeated address', () => {
  const entries = [entry('a', 'a.example'), entry('b', 'b.example'), entry('c', 'a.example')];
  assert.equal(findRepeated(entries), 2);
  assert.equal(findRepeated(entries.slice(0, 2)), -1);
});

test('normalises an entry', () => {
  assert.deepEqual(readEntry(entry(' web 1 ', 'WEB-1:4096', [' a', 'b', 'a'])), {
    entry: entry('web 1', 'web-1', ['a', 'b']),
  });
});

test('names the invalid field of an entry', () => {
  const cases = [
    [entry(' ', 'a.example'), 'name'],
    [entry('a\nb', 'a.example'), 'name'],
    [entry('x'.repeat(101), 'a.example'), 'name'],
    [entry('a', 'https://a.example'), 'address'],
    [entry('a', 'a.example', ['x', ' ']), 'labels'],
    [entry('a', 'a.example', ['x,y']), 'labels'],
    [entry('a', 'a.example', ['x'.repeat(41)]), 'labels'],
    [
      entry(
        'a',
        'a.example',
        Array.from({ length: 11 }, (_, index) => `${index}`),
      ),
      'labels',
    ],
  ] as const;
  for (const [given, field] of cases) {
    const read = readEntry(given);
    assert.ok('problem' in read, field);
    assert.deepEqual(read.problem.path, [field]);
  }
});
