import assert from 'node:assert/strict';
import { test } from 'node:test';

import { databaseUnavailable, internal } from '#server/errors.ts';

import { makeFailureReporter } from './failure-log.ts';

test('of an outage one failure in a second is told, with the number of those that were not', () => {
  const told: object[] = [];
  let nowMs = 0;
  const report = makeFailureReporter({ error: (fields) => told.push(fields) }, () => nowMs);
  const cause = new Error('connect ECONNREFUSED');
  for (const [ms, id] of [
    [0, 'a'],
    [1, 'b'],
    [999, 'c'],
    [1_000, 'd'],
    [1_001, 'e'],
    [5_000, 'f'],
  ] as const) {
    nowMs = ms;
    report(id, databaseUnavailable(cause));
  }
  const code = 'database_unavailable';
  assert.deepEqual(told, [
    { event: 'request.failed', requestId: 'a', code, err: cause, suppressed: 0 },
    { event: 'request.failed', requestId: 'd', code, err: cause, suppressed: 2 },
    { event: 'request.failed', requestId: 'f', code, err: cause, suppressed: 1 },
  ]);
});

test('every other failure is told', () => {
  const told: object[] = [];
  const report = makeFailureReporter({ error: (fields) => told.push(fields) }, () => 0);
  const cause = new Error('a mistake of ours');
  report('a', internal(cause));
  report('b', internal(cause));
  assert.deepEqual(told, [
    { event: 'request.failed', requestId: 'a', code: 'internal_error', err: cause },
    { event: 'request.failed', requestId: 'b', code: 'internal_error', err: cause },
  ]);
});
