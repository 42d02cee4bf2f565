import assert from 'node:assert/strict';
import { test } from 'node:test';

import { describeCounts, describePause, describeRest, describeTitle } from './summary.ts';

function countsOf(calm: number, problem: number, unknown: number) {
  return { calm, problem, unknown };
}

test('describes a fleet in words', () => {
  const texts = [
    countsOf(0, 0, 0),
    countsOf(0, 0, 1),
    countsOf(0, 0, 100),
    countsOf(1, 0, 0),
    countsOf(0, 1, 0),
    countsOf(100, 0, 0),
    countsOf(97, 3, 0),
    countsOf(1, 1, 0),
    countsOf(0, 2, 0),
    countsOf(0, 2, 1),
  ].map(describeCounts);
  assert.deepEqual(texts, [
    'No machines yet',
    'Connecting',
    'Connecting to 100 machines',
    'The machine is calm',
    'The machine needs attention',
    'All 100 machines are calm',
    '97 of 100 machines are calm',
    '1 of 2 machines is calm',
    'None of 2 machines is calm',
    '0 of 3 machines are calm',
  ]);
});

test('describes the others', () => {
  assert.equal(describeRest(countsOf(5, 0, 0)), '');
  assert.equal(describeRest(countsOf(5, 1, 2)), '1 needs attention, 2 have not answered yet');
  assert.equal(describeRest(countsOf(5, 3, 1)), '3 need attention, 1 has not answered yet');
});

test('begins the title of the tab with the number of machines with problems', () => {
  assert.equal(describeTitle(countsOf(97, 3, 0), 'Fleet', false), '(3) Fleet');
  assert.equal(describeTitle(countsOf(97, 0, 3), 'Fleet', false), 'Fleet');
  assert.equal(describeTitle(countsOf(97, 3, 0), 'Fleet', true), 'Paused · (3) Fleet');
});

test('describes a pause with its times', () => {
  const from = new Date(2026, 10, 21, 14, 3, 22).getTime();
  assert.equal(
    describePause(from, from + 61_000),
    'This page was hidden and watched nothing from 14:03:22 to 14:04:23.',
  );
});
