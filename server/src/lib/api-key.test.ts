import { strict as assert } from 'node:assert';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { generateApiKey, hashApiKey, hintOf, isApiKey } from './api-key.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_CHARACTERS = 39;

const anyKey = fc
  .uint8Array({ minLength: 30, maxLength: 30, max: 247 })
  .map((bytes) => generateApiKey(() => bytes));

test('a key is lk_, thirty random symbols, and their CRC-32 in six symbols', () => {
  // The CRC-32 of lk_ and thirty zeros is 3634965808, in base 62 the digits 3 59 61 58 40 48.
  const zeros = generateApiKey((count) => new Uint8Array(count));
  assert.equal(zeros, `lk_${'0'.repeat(30)}3xzwem`);
});

test('uses a byte for each symbol, and skips bytes that would bias the symbols', () => {
  const asked: number[] = [];
  const batches = [
    [...Array(10).fill(61), ...Array(20).fill(248)],
    [...Array(15).fill(62), ...Array(5).fill(255)],
    Array(5).fill(247),
  ];
  const key = generateApiKey((count) => {
    asked.push(count);
    return Uint8Array.from(batches.shift() ?? []);
  });
  assert.deepEqual(asked, [30, 20, 5]);
  assert.equal(key.slice(3, 33), `${'z'.repeat(10)}${'0'.repeat(15)}${'z'.repeat(5)}`);
});

test('every symbol is as likely as every other', () => {
  const counts = new Map<string, number>();
  for (let byte = 0; byte < 248; byte += 1) {
    const symbol = generateApiKey((count) => new Uint8Array(count).fill(byte)).charAt(3);
    counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
  }
  assert.deepEqual([...counts.keys()].join(''), alphabet);
  assert.deepEqual(new Set(counts.values()), new Set([4]));
});

test('a new key has the form of a key, and two differ', () => {
  const keys = Array.from({ length: 1_000 }, () => generateApiKey(randomBytes));
  assert.equal(new Set(keys).size, keys.length);
  for (const key of keys) {
    assert.match(key, /^lk_[0-9A-Za-z]{36}$/);
    assert.equal(isApiKey(key), true);
  }
});

test('detects every single wrong character', () => {
  const anyPosition = fc.nat(KEY_CHARACTERS - 1);
  const anyCharacter = fc.constantFrom(...alphabet.split(''), '_', '-', ' ', 'é');
  fc.assert(
    fc.property(anyKey, anyPosition, anyCharacter, (key, position, character) => {
      fc.pre(key.charAt(position) !== character);
      assert.equal(isApiKey(key.slice(0, position) + character + key.slice(position + 1)), false);
    }),
    { numRuns: 3_000 },
  );
});

test('detects every swap of two different neighbours', () => {
  fc.assert(
    fc.property(anyKey, fc.nat(KEY_CHARACTERS - 2), (key, position) => {
      const [first = '', second = ''] = key.slice(position, position + 2);
      fc.pre(first !== second);
      const swapped = key.slice(0, position) + second + first + key.slice(position + 2);
      assert.equal(isApiKey(swapped), false);
    }),
    { numRuns: 2_000 },
  );
});

test('rejects a longer, shorter or surrounded text', () => {
  const key = generateApiKey(randomBytes);
  for (const text of [
    '',
    'lk_',
    key.slice(1),
    key.slice(0, -1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
  ]) {
    assert.equal(isApiKey(text), false, JSON.stringify(text));
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(isApiKey(text), false);
    }),
  );
});

test('stores the SHA-256, and shows the last four symbols', () => {
  const key = generateApiKey(randomBytes);
  assert.deepEqual(hashApiKey(key), createHash('sha256').update(key).digest());
  assert.deepEqual(hashApiKey(Buffer.from(key)), hashApiKey(key));
  assert.equal(hintOf(key), key.slice(35));
});
