import assert from 'node:assert/strict';
import { test } from 'node:test';

import { formatBytes, formatInterval, formatUptime } from './format-interval.ts';

test('formats durations in their two largest units', () => {
  assert.deepEqual([0.5, 1, 60, 300, 3_660, 86_400, 183_600].map(formatInterval), [
    'moment',
    '1 second',
    '1 minute',
    '5 minutes',
    '1 hour 1 minute',
    '1 day',
    '2 days 3 hours',
  ]);
});

test('formats an uptime in its largest unit', () => {
  assert.deepEqual([0, 1, 311, 7_300, 183_600].map(formatUptime), [
    '0 s',
    '1 s',
    '5 min',
    '2 h',
    '2 d',
  ]);
});

test('formats sizes', () => {
  assert.deepEqual([0, 999, 1_000, 48_200_000, 250_000_000, 2e15].map(formatBytes), [
    '0 B',
    '999 B',
    '1.0 kB',
    '48.2 MB',
    '250 MB',
    '2000 TB',
  ]);
});
