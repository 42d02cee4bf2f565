import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { describe, test } from 'node:test';

import { countSecretSymbols, estimateKeyBits, lengthOfName, MIN_KEY_BITS } from './key-strength.ts';
import { generateLicenseKey } from './license-key.ts';

const estimate = (key: string) => Math.floor(estimateKeyBits(key, lengthOfName(key)));

describe('estimateKeyBits', () => {
  const keys = [
    ['', 0],
    ['OLD-1', 3],
    ['ACME-000123', 3],
    ['ACME-PRO-2023-839204', 43],
    ['1234567890123456789012345', 9],
    ['AAAAAAAA-AAAAAAAA-AAAAAAAA', 4],
    ['83920471-83920471-83920471', 26],
    ['X7KQ-93HF-2MZP', 62],
    ['X7KQ-93HF-2MZP-R4WD', 82],
  ] as const;
  for (const [key, bits] of keys) {
    test(`counts ${bits} bits of ${JSON.stringify(key)}`, () => assert.equal(estimate(key), bits));
  }

  test('does not count known characters of a key', () => {
    const known = 'ACME-PRO-2023-'.length;
    assert.equal(Math.floor(estimateKeyBits('ACME-PRO-2023-839204', known)), 19);
  });

  test('finds a random UUID and the keys of this service strong', () => {
    for (let count = 0; count < 1_000; count++) {
      assert.ok(estimate(crypto.randomUUID()) >= MIN_KEY_BITS);
      assert.ok(estimate(generateLicenseKey('LK', randomBytes)) >= MIN_KEY_BITS);
    }
  });

  test('finds all keys of up to 19 digits weak', () => {
    for (let digits = 1; digits < 20; digits++) {
      const key = Array.from({ length: digits }, () => randomInt(10)).join('');
      assert.ok(estimate(key) < MIN_KEY_BITS, key);
    }
  });
});

test('counts letters and digits after a leading name as secret', () => {
  assert.equal(countSecretSymbols('ACME-12 34'), 4);
  assert.equal(countSecretSymbols('ABC123'), 6);
  assert.equal(countSecretSymbols('ABCDEF'), 6);
  assert.equal(countSecretSymbols('---'), 0);
});
