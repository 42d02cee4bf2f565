import assert from 'node:assert/strict';
import { test } from 'node:test';

import { noteServiceTime, serviceNowMs } from './service-clock.ts';

const HEADER = 'Sun, 22 Nov 2026 12:00:00 GMT';
const TIME_MS = Date.UTC(2026, 10, 22, 12);

test('follows the service where this clock is off', () => {
  noteServiceTime(HEADER, TIME_MS + 3_600_000);
  assert.equal(serviceNowMs(TIME_MS + 3_600_000), TIME_MS);
  noteServiceTime(HEADER, TIME_MS - 86_400_000);
  assert.equal(serviceNowMs(TIME_MS - 86_400_000), TIME_MS);
});

test('ignores the time of a request, and answers without a time', () => {
  noteServiceTime(HEADER, TIME_MS + 4_000);
  assert.equal(serviceNowMs(TIME_MS + 4_000), TIME_MS + 4_000);
  noteServiceTime(null, 0);
  noteServiceTime('yesterday', 0);
  assert.equal(serviceNowMs(TIME_MS), TIME_MS);
});
