import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decimalsOf, writeAmount } from './payment-providers.ts';

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

test('an amount is written with all of its decimals', () => {
  const cases = [
    [1_990, 2, '19.90'],
    [1_990, 0, '1990'],
    [5, 3, '0.005'],
    [5, 2, '0.05'],
    [0, 2, '0.00'],
    [-250, 2, '-2.50'],
    [9_007_199_254_740_991, 2, '90071992547409.91'],
  ] as const;
  for (const [minorUnits, decimals, text] of cases) {
    assert.equal(writeAmount(minorUnits, decimals), text);
  }
});
