import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration } from './options.ts';

test('a length of time is a number and its unit, or 0, up to a limit', () => {
  const read = duration(7 * 86_400_000);
  assert.deepEqual(
    ['0', '0h', '1m', '90m', '24h', '7d', '168h', '007d'].map(read),
    [0, 0, 60_000, 5_400_000, 86_400_000, 604_800_000, 604_800_000, 604_800_000],
  );
  for (const text of ['', '1', 'h', '1 h', '-1h', '1.5h', '1w', '1hh', '8d', '169h', '9999999m']) {
    assert.throws(() => read(text), /such as 30m, 24h or 7d, of at most 7 days/, text);
  }
});
