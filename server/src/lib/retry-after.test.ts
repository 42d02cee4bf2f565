import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readRetryAfter } from './retry-after.ts';

const now = new Date('2027-03-01T12:00:00.000Z');

test('Retry-After is understood in seconds and as a date, and nothing else is', () => {
  assert.deepEqual(
    [
      '120',
      ' 0 ',
      'Mon, 01 Mar 2027 12:00:30 GMT',
      'Mon, 01 Mar 2027 11:00:00 GMT',
      '-1',
      'soon',
      '',
      null,
      'Mon, 99 Xyz 2027 12:00:30 GMT',
    ].map((header) => readRetryAfter(header, now)),
    [120_000, 0, 30_000, 0, null, null, null, null, null],
  );
});
