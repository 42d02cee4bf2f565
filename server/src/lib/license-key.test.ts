import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  decodeSymbol,
  encodeSymbol,
  generateLicenseKey,
  listKeyLookups,
  listSentLookups,
  MAX_LICENSE_KEY_CHARACTERS,
  readLicenseKey,
  toCanonicalSymbols,
} from './license-key.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const anyRandomness = fc.uint8Array({ minLength: 23, maxLength: 23 });
const anyPrefix = fc.stringMatching(/^[A-Za-z0-9]{1,8}$/);
const anyKey = anyRandomness.map((bytes) => generateLicenseKey('LK', () => bytes));

function symbolsOf(key: string): string {
  return key.replaceAll('-', '').slice(-25);
}

test('a key is its prefix and five groups of five symbols, of which the last two check the rest', () => {
  const zeros = generateLicenseKey('LK', (count) => new Uint8Array(count));
  assert.equal(zeros, 'LK-00000-00000-00000-00000-00000');
  const one = generateLicenseKey('demo', (count) => new Uint8Array(count).fill(1, count - 1));
  assert.equal(one, 'DEMO-00000-00000-00000-00000-00101');
  // 1023 exceeds the modulus, although two symbols can encode it: 1023 mod 1021 = 2.
  const wrapped = generateLicenseKey('LK', (count) => new Uint8Array(count).fill(255, count - 2));
  assert.equal(wrapped, 'LK-00000-00000-00000-00000-0ZZ02');
});

test('uses five bits of a byte for each random symbol', () => {
  fc.assert(
    fc.property(anyRandomness, (bytes) => {
      const expected = [...bytes].map((byte) => alphabet[byte % 32]).join('');
      assert.equal(symbolsOf(generateLicenseKey('LK', () => bytes)).slice(0, 23), expected);
    }),
  );
});

test('reads a new key as native under any prefix or none', () => {
  fc.assert(
    fc.property(anyRandomness, anyPrefix, anyPrefix, (bytes, prefix, configured) => {
      const key = generateLicenseKey(prefix, () => bytes);
      const expected = { kind: 'native', lookup: symbolsOf(key) };
      assert.deepEqual(readLicenseKey(key, configured), expected);
      assert.deepEqual(readLicenseKey(symbolsOf(key), configured), expected);
    }),
  );
});

function writeSloppily(key: string, choices: readonly number[]): string {
  return Array.from(key)
    .map((character, index) => {
      const choice = choices[index % choices.length] ?? 0;
      if (character === '1') return '1IiLl'.charAt(choice % 5);
      if (character === '0') return '0Oo'.charAt(choice % 3);
      if (character === '-') return ['-', ' ', '', ' - ', '\t', '–', '‑'][choice % 7] ?? '';
      return choice % 2 === 0 ? character : character.toLowerCase();
    })
    .join('');
}

test('ignores case, blanks and hyphens, and reads I, L and O as digits', () => {
  fc.assert(
    fc.property(anyKey, fc.array(fc.nat(), { minLength: 1, maxLength: 40 }), (key, choices) => {
      const sloppy = `  ${writeSloppily(key, choices)}\n`;
      assert.deepEqual(readLicenseKey(sloppy, 'LK'), { kind: 'native', lookup: symbolsOf(key) });
    }),
    { numRuns: 500 },
  );
});

test('detects every single wrong symbol', () => {
  fc.assert(
    fc.property(anyKey, fc.nat(24), fc.integer({ min: 1, max: 31 }), (key, position, shift) => {
      const symbols = symbolsOf(key);
      const wrong = alphabet.charAt((alphabet.indexOf(symbols.charAt(position)) + shift) % 32);
      const changed = symbols.slice(0, position) + wrong + symbols.slice(position + 1);
      assert.deepEqual(readLicenseKey(`LK-${changed}`, 'LK'), { kind: 'mistyped' });
    }),
    { numRuns: 2000 },
  );
});

test('detects every swap of two different neighbours', () => {
  fc.assert(
    fc.property(anyKey, fc.nat(23), (key, position) => {
      const symbols = symbolsOf(key);
      const first = symbols.charAt(position);
      const second = symbols.charAt(position + 1);
      fc.pre(first !== second);
      const changed = symbols.slice(0, position) + second + first + symbols.slice(position + 2);
      assert.deepEqual(readLicenseKey(`LK-${changed}`, 'LK'), { kind: 'mistyped' });
    }),
    { numRuns: 2000 },
  );
});

test('an imported key is mistyped under a prefix that it starts with', () => {
  const imported = 'ACME-UUUUU-00000-00000-00000-00000';
  assert.deepEqual(readLicenseKey(imported, 'LK'), { kind: 'other', lookup: imported });
  assert.deepEqual(readLicenseKey(imported, 'ACME'), { kind: 'mistyped' });
});

test('only a text with the prefix is mistyped, in any case', () => {
  const bad = '00000-00000-00000-00000-00001';
  assert.deepEqual(readLicenseKey(`lk-${bad}`, 'LK'), { kind: 'mistyped' });
  assert.deepEqual(readLicenseKey(`LK${bad}`, 'lk'), { kind: 'mistyped' });
  assert.deepEqual(readLicenseKey('LK-UUUUU-00000-00000-00000-00000', 'LK'), { kind: 'mistyped' });
  const other = { kind: 'other', lookup: `XY-${bad}` };
  assert.deepEqual(readLicenseKey(`XY-${bad}`, 'LK'), other);
  assert.deepEqual(readLicenseKey(bad, 'LK'), { kind: 'other', lookup: bad });
});

test('looks up keys of other formats unchanged, without surrounding blanks', () => {
  for (const text of [
    '3f2b8a10-7a5e-4c6b-9d11-0a4c1e7f2b90',
    'ABCD-EFGH-1234',
    'key/eyJhY2NvdW50In0=.c2ln',
    'clé de licence ü',
    'A',
  ]) {
    assert.deepEqual(readLicenseKey(` ${text}\n`, 'LK'), { kind: 'other', lookup: text });
  }
});

test('reads a text that cannot be a key as unknown, without a look-up', () => {
  const longest = 'x'.repeat(MAX_LICENSE_KEY_CHARACTERS);
  assert.deepEqual(readLicenseKey(longest, 'LK'), { kind: 'other', lookup: longest });
  assert.deepEqual(readLicenseKey(`${longest}x`, 'LK'), { kind: 'mistyped' });
  assert.deepEqual(readLicenseKey('', 'LK'), { kind: 'mistyped' });
  assert.deepEqual(readLicenseKey(' \t', 'LK'), { kind: 'mistyped' });
});

test('reads any text without an error, and a look-up as itself', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), anyKey), (text) => {
      const reading = readLicenseKey(text, 'LK');
      if (reading.kind !== 'mistyped') {
        assert.deepEqual(readLicenseKey(reading.lookup, 'LK'), reading);
      }
    }),
    { numRuns: 1000 },
  );
});

test('decodes all 32 symbols in either case', () => {
  for (let value = 0; value < 32; value += 1) {
    const symbol = encodeSymbol(value);
    assert.equal(decodeSymbol(symbol.charCodeAt(0)), value);
    assert.equal(decodeSymbol(symbol.toLowerCase().charCodeAt(0)), value);
  }
});

function decodeAll(text: string): number[] {
  return Array.from(text).map((symbol) => decodeSymbol(symbol.charCodeAt(0)));
}

test('decodes I and L as 1, O as 0, and U and other characters as -1', () => {
  assert.deepEqual(decodeAll('IiLl'), [1, 1, 1, 1]);
  assert.deepEqual(decodeAll('Oo'), [0, 0]);
  assert.deepEqual(decodeAll('Uu-*~$=é\u{fffd}'), [-1, -1, -1, -1, -1, -1, -1, -1, -1]);
  assert.equal(decodeSymbol(Number.NaN), -1);
});

test('converts symbols to their canonical spelling', () => {
  assert.equal(toCanonicalSymbols('oOiIlLaZ9'), '001111AZ9');
  assert.equal(toCanonicalSymbols('00111AZ9'), '00111AZ9');
});

test('a key from elsewhere has a folded form unless its letters have both cases', () => {
  assert.deepEqual(listKeyLookups('ab12-cd34', 'LK'), ['ab12-cd34', 'AB12CD34']);
  assert.deepEqual(listKeyLookups('AB12CD34', 'LK'), ['AB12CD34']);
  assert.deepEqual(listKeyLookups('Ab12-cd34', 'LK'), ['Ab12-cd34']);
  assert.deepEqual(listKeyLookups('key/eyJh.b-c', 'LK'), ['key/eyJh.b-c']);
  assert.deepEqual(listKeyLookups('', 'LK'), []);
});

test('a sent key is looked up as it is, then folded', () => {
  assert.deepEqual(listSentLookups(' Ab12 cd34 ', 'LK'), ['Ab12 cd34', 'AB12CD34']);
  assert.deepEqual(listSentLookups('AB12CD34', 'LK'), ['AB12CD34']);
  assert.deepEqual(listSentLookups('ab/12', 'LK'), ['ab/12']);
});
