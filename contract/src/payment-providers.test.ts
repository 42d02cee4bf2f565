import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decimalsOf } from './payment-providers.ts';

const CASES: readonly (readonly [provider: string, currency: string, decimals: number])[] = [
  ['paddle', 'USD', 2],
  ['paddle', 'JPY', 0],
  ['paddle', 'KRW', 0],
  ['standard', 'KWD', 3],
  ['stripe', 'KWD', 3],
  ['stripe', 'ISK', 2],
  ['standard', 'ISK', 0],
  ['stripe', 'UGX', 2],
  ['paddle', 'UGX', 0],
  ['stripe', 'HUF', 2],
  ['stripe', 'TWD', 2],
  ['stripe', 'MGA', 0],
  ['standard', 'MGA', 2],
  ['stripe', 'XYZ', 2],
  ['unknown', 'JPY', 0],
];

test('an amount has the decimals of its currency by the rule of its provider', () => {
  for (const [provider, currency, decimals] of CASES) {
    assert.equal(decimalsOf(provider, currency), decimals, `${currency} of ${provider}`);
  }
});
