import assert from 'node:assert/strict';
import { test } from 'node:test';

import { databaseUnavailable, internal } from '#server/errors.ts';

import { createFailureReporter } from './error-handler.ts';

test('logs one failure a second during an outage, with the number of suppressed ones', () => {
  const logged: object[] = [];
  let nowMs = 0;
  const report = createFailureReporter({ error: (fields) => logged.push(fields) }, () => nowMs);
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
  assert.deepEqual(logged, [
    { event: 'request.failed', requestId: 'a', code, err: cause, suppressed: 0 },
    { event: 'request.failed', requestId: 'd', code, err: cause, suppressed: 2 },
    { event: 'request.failed', requestId: 'f', code, err: cause, suppressed: 1 },
  ]);
});

test('logs every other failure', () => {
  const logged: object[] = [];
  const report = createFailureReporter({ error: (fields) => logged.push(fields) }, () => 0);
  const cause = new Error('a mistake of ours');
  report('a', internal(cause));
  report('b', internal(cause));
  assert.deepEqual(logged, [
    { event: 'request.failed', requestId: 'a', code: 'internal_error', err: cause },
    { event: 'request.failed', requestId: 'b', code: 'internal_error', err: cause },
  ]);
});
