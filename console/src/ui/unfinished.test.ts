import assert from 'node:assert/strict';
import { test } from 'node:test';

import { noteServiceTime } from '#console/app/service-clock.ts';

import { countFinished, isUnfinished } from './unfinished.ts';

const NOW_MS = Date.parse('2026-11-23T01:00:00Z');

test('a period is over when its last day is over in UTC', () => {
  const cases = [
    ['2026-11-22', 'day', false],
    ['2026-11-23', 'day', true],
    ['2026-11-16', 'week', false],
    ['2026-11-17', 'week', true],
    ['2026-10-01', 'month', false],
    ['2026-11-01', 'month', true],
    ['2025-12-01', 'month', false],
  ] as const;
  assert.deepEqual(
    cases.map(([start, length]) => [start, length, isUnfinished(start, length, NOW_MS)]),
    cases,
  );
});

test('counts the periods that are over', () => {
  assert.equal(countFinished(['2026-11-21', '2026-11-22', '2026-11-23'], 'day', NOW_MS), 2);
  assert.equal(countFinished([], 'day', NOW_MS), 0);
});

test('asks the service for the time, not this computer', () => {
  noteServiceTime('Mon, 01 Jan 2001 12:00:00 GMT');
  assert.equal(isUnfinished('2001-01-01', 'day'), true);
  assert.equal(countFinished(['2000-12-31', '2001-01-01'], 'day'), 1);
  noteServiceTime(new Date().toUTCString());
  assert.equal(isUnfinished('2001-01-01', 'day'), false);
});
