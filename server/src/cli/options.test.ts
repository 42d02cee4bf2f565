import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration } from './options.ts';

test('parses a duration up to a limit', () => {
  const read = duration(7 * 86_400_000);
  assert.deepEqual(
    ['0', '0h', '1m', '90m', '24h', '7d', '168h', '007d'].map(read),
    [0, 0, 60_000, 5_400_000, 86_400_000, 604_800_000, 604_800_000, 604_800_000],
  );
  for (const text of ['', '1', 'h', '1 h', '-1h', '1.5h', '1w', '1hh', '8d', '169h', '9999999m']) {
    assert.throws(() => read(text), /at most 7 days/, text);
  }
});
