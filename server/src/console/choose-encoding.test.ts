import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chooseEncoding } from './choose-encoding.ts';

test('chooses the smallest encoding that the browser accepts', () => {
  const cases = [
    ['gzip, deflate, br, zstd', 'br'],
    ['BR', 'br'],
    ['gzip', 'gzip'],
    ['*', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0,gzip;q=0', 'identity'],
    ['br; q=0.000', 'identity'],
    ['br;q=x', 'identity'],
    ['identity', 'identity'],
    ['', 'identity'],
    ['brotli', 'identity'],
    ['br ; q=1 , gzip', 'br'],
    [`x${' '.repeat(1_000_000)}y, gzip`, 'gzip'],
  ] as const;
  assert.deepEqual(
    cases.map(([header]) => [header, chooseEncoding(header)]),
    cases,
  );
});
